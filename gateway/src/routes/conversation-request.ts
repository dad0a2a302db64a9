import type {
  ListConversationsRequest,
  TimeOfDayWindow,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CALLING_TYPES, CONVERSATION_STATUSES, CONVERSATION_TYPES, numberOf } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import type { Static } from "@sinclair/typebox";
import { minuteOf, readDate, readEndDate } from "../http/date.ts";
import type { ListConversationsQuery } from "../schemas/conversations.ts";

type Query = Static<typeof ListConversationsQuery>;

const SIZE_MAX = 100;
const SIZE_DEFAULT = 10;
const DAY_MINUTES = 24 * 60;
const OFFSET_DEFAULT = 330;

/** Unlike elsewhere, a page_size over 100 becomes 100 and one below 1 becomes 10 (docs/api-reference.md#listing-conversations). @throws ServiceError invalid */
export function listConversationsRequest(
  ownerId: string,
  query: Query,
): { request: ListConversationsRequest; page: { number: number; size: number } } {
  if (query.agent_version !== undefined && !query.agent_id)
    throw invalid("agent_version", "agent_version needs agent_id, the agent whose version it is");
  const asked = query.page_size ?? SIZE_DEFAULT;
  const page = { number: query.page ?? 1, size: asked < 1 ? SIZE_DEFAULT : Math.min(asked, SIZE_MAX) };
  return {
    page,
    request: {
      ownerId,
      page,
      search: query.search ?? "",
      conversationId: query.conversation_id ?? "",
      agentId: query.agent_id ?? "",
      agentVersion: query.agent_version,
      type: numberOf(CONVERSATION_TYPES, query.conversation_type),
      callingType: numberOf(CALLING_TYPES, query.calling_type),
      status: numberOf(CONVERSATION_STATUSES, query.conversation_status),
      isTestCall: query.is_test_call,
      withUsage: query.include === "cost",
      from: query.from_date === undefined ? undefined : readDate("from_date", query.from_date),
      to: query.to_date === undefined ? undefined : readEndDate("to_date", query.to_date),
      timeOfDay: timeOfDayOf(query),
    },
  };
}

/** The time window of the day in UTC minutes; offsets are minutes east of UTC. */
function timeOfDayOf(query: Query): TimeOfDayWindow | undefined {
  if (query.from_time === undefined && query.to_time === undefined) return undefined;
  const offset = query.timezone_offset ?? OFFSET_DEFAULT;
  const from = minuteOf(query.from_time ?? "00:00");
  const to = minuteOf(query.to_time ?? "23:59");
  // The whole day, which an offset would turn into a window that wraps around.
  if (from === 0 && to === DAY_MINUTES - 1) return undefined;
  const toUtc = (minute: number) => (minute - offset + 2 * DAY_MINUTES) % DAY_MINUTES;
  return { fromMinute: toUtc(from), toMinute: toUtc(to) };
}
