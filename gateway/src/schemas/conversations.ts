import { CALLING_TYPES, CONVERSATION_STATUSES, CONVERSATION_TYPES, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { About, DateTimeText, OneOf, PageQuery, Text } from "./types.ts";

export const TimeOfDay = Text({
  pattern: "^([0-1][0-9]|2[0-3]):[0-5][0-9]$",
  form: "be a time of day as HH:MM, 24-hour",
  example: "09:30",
});

export const ListConversationsQuery = Type.Object({
  page: PageQuery.page,
  page_size: Type.Optional(
    Type.Integer({
      default: 10,
      description: "Items on a page. A size above 100 becomes 100, one below 1 becomes 10.",
    }),
  ),
  search: Type.Optional(Text({ max: 200, description: "Part of what was said or of the metadata, in any case." })),
  conversation_id: Type.Optional(Text({ max: 200, description: "Only this conversation." })),
  agent_id: Type.Optional(Text({ max: 200, description: "Only conversations of this agent." })),
  conversation_type: Type.Optional(
    OneOf(namesOf(CONVERSATION_TYPES), { description: "Only conversations on this channel." }),
  ),
  calling_type: Type.Optional(OneOf(namesOf(CALLING_TYPES), { description: "Only calls in this direction." })),
  conversation_status: Type.Optional(
    OneOf(namesOf(CONVERSATION_STATUSES), { description: "Only conversations with this status." }),
  ),
  from_date: Type.Optional(About(DateTimeText, "Created at this time or later. A date means its start, in UTC.")),
  to_date: Type.Optional(About(DateTimeText, "Created at this time or earlier. A date means its end, in UTC.")),
  from_time: Type.Optional(
    About(TimeOfDay, "First minute of the day. If it is later than `to_time`, the window spans midnight."),
  ),
  to_time: Type.Optional(About(TimeOfDay, "Last minute of the day.")),
  timezone_offset: Type.Optional(
    Type.Integer({
      minimum: -840,
      maximum: 840,
      default: 330,
      description: "Minutes east of UTC of `from_time` and `to_time`.",
    }),
  ),
  shape: Type.Optional(
    OneOf(["envelope", "flat"] as const, { description: "Shape of the answer. Default: `envelope`." }),
  ),
});

export const ReadConversationQuery = Type.Object({
  include: Type.Optional(OneOf(["replies"] as const, { description: "`replies`: what each reply of a model cost." })),
});
