import { CALLING_TYPES, CONVERSATION_STATUSES, CONVERSATION_TYPES, namesOf } from "@parley/shared/api-names";
import { Type } from "@sinclair/typebox";
import { DateTimeText, OneOf, Text } from "./types.ts";

const TimeOfDay = Text({
  pattern: "^([0-1][0-9]|2[0-3]):[0-5][0-9]$",
  form: "be a time of day as HH:MM, 24-hour",
  example: "09:30",
});

export const ListConversationsQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 })),
  page_size: Type.Optional(
    Type.Integer({ default: 10, description: "1-100; above is reduced to 100, below becomes 10" }),
  ),
  search: Type.Optional(
    Text({ max: 200, description: "Part of what was said or of the metadata; case does not matter." }),
  ),
  conversation_id: Type.Optional(Text({ max: 200 })),
  agent_id: Type.Optional(Text({ max: 200 })),
  conversation_type: Type.Optional(OneOf(namesOf(CONVERSATION_TYPES))),
  calling_type: Type.Optional(OneOf(namesOf(CALLING_TYPES))),
  conversation_status: Type.Optional(OneOf(namesOf(CONVERSATION_STATUSES))),
  from_date: Type.Optional({ ...DateTimeText, description: "Created then or later; a day is its begin, in UTC." }),
  to_date: Type.Optional({ ...DateTimeText, description: "Created then or before; a day is its end, in UTC." }),
  from_time: Type.Optional({
    ...TimeOfDay,
    description: "First minute of the day; later than `to_time` it wraps midnight.",
  }),
  to_time: Type.Optional({ ...TimeOfDay, description: "Last minute of the day." }),
  timezone_offset: Type.Optional(
    Type.Integer({
      minimum: -840,
      maximum: 840,
      default: 330,
      description: "Minutes east of UTC that `from_time` and `to_time` are in.",
    }),
  ),
  shape: Type.Optional(OneOf(["envelope", "flat"] as const, { description: "Of the answer; `envelope` by default." })),
});
