import {
  CallingType,
  ConversationStatus,
  ConversationType,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ListConversationsRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Database } from "@parley/shared/db/database";
import { ABSENT } from "./corpus.ts";
import { agentId, DAYS } from "./rows.ts";

/** The parameters of a list. */
export interface Case {
  name: string;
  group: "single" | "pair" | "search" | "deep";
  filter: Filter;
  /** The page's number; a page has ten conversations. */
  page: number;
  sessions?: boolean;
}

export interface Filter {
  agent?: string;
  type?: "CHAT" | "DAILY";
  callingType?: "OUTBOUND";
  status?: "COMPLETED" | "FAILED" | "IN_PROGRESS";
  from?: Date;
  to?: Date;
  timeOfDay?: { fromMinute: number; toMinute: number };
  search?: string;
}

const PAGE_SIZE = 10;
const DAY_MS = 86_400_000;

export function listCases(end: Date): Case[] {
  const ago = (days: number) => new Date(end.getTime() - days * DAY_MS - 12_345_678);
  const singles: [string, Filter][] = [
    ["no filter", {}],
    ["agent_id, a busy one", { agent: agentId(1) }],
    ["agent_id, a quiet one", { agent: agentId(17) }],
    ["conversation_type", { type: "DAILY" }],
    ["calling_type", { callingType: "OUTBOUND" }],
    ["conversation_status, common", { status: "COMPLETED" }],
    ["conversation_status, rare", { status: "IN_PROGRESS" }],
    ["from_date", { from: ago(DAYS / 3) }],
    ["to_date", { to: ago(DAYS / 3) }],
    ["time of day, 09:00-17:00", { timeOfDay: { fromMinute: 540, toMinute: 1020 } }],
    ["time of day, over midnight", { timeOfDay: { fromMinute: 1320, toMinute: 120 } }],
  ];
  const parts: [string, Filter][] = [
    ["agent", { agent: agentId(12) }],
    ["type", { type: "CHAT" }],
    ["calling type", { callingType: "OUTBOUND" }],
    ["status", { status: "FAILED" }],
    ["from", { from: ago((DAYS * 2) / 3) }],
    ["to", { to: ago(DAYS / 3) }],
    ["time of day", { timeOfDay: { fromMinute: 540, toMinute: 1020 } }],
    ["search", { search: "zephyr" }],
  ];
  const pairs = parts.flatMap(([name, filter], at) =>
    parts.slice(at + 1).map(([other, more]): [string, Filter] => [`${name} + ${other}`, { ...filter, ...more }]),
  );
  const searches: [string, string][] = [
    ["search, absent", ABSENT],
    ["search, 0.01 % of all", "zephyr"],
    ["search, 1 % of all", "sphinx"],
    ["search, 60 % of all", "quartz"],
    ["search, two letters", "ba"],
    ["search, two words in a row", "ba be"],
    ["search, most numbers", "+1415"],
  ];
  return [
    ...singles.map(([name, filter]): Case => ({ name, group: "single", filter, page: 1 })),
    { name: "chat sessions", group: "single", filter: { type: "CHAT" }, page: 1, sessions: true },
    ...pairs.map(([name, filter]): Case => ({ name, group: "pair", filter, page: 1 })),
    ...searches.map(([name, search]): Case => ({ name, group: "search", filter: { search }, page: 1 })),
    { name: "no filter, page 900", group: "deep", filter: {}, page: 900 },
    { name: "conversation_status, page 100", group: "deep", filter: { status: "COMPLETED" }, page: 100 },
  ];
}

export function requestOf(ownerId: string, { filter, page }: Case): ListConversationsRequest {
  return ListConversationsRequest.fromPartial({
    ownerId,
    page: { number: page, size: PAGE_SIZE },
    search: filter.search ?? "",
    agentId: filter.agent ?? "",
    type: filter.type ? ConversationType[`CONVERSATION_TYPE_${filter.type}`] : 0,
    callingType: filter.callingType ? CallingType[`CALLING_TYPE_${filter.callingType}`] : 0,
    status: filter.status ? ConversationStatus[`CONVERSATION_STATUS_${filter.status}`] : 0,
    ...(filter.from && { from: filter.from }),
    ...(filter.to && { to: filter.to }),
    ...(filter.timeOfDay && { timeOfDay: filter.timeOfDay }),
  });
}

/** The total by counting rows, which the service's must equal. */
export async function countRows(db: Database, ownerId: string, { filter }: Case): Promise<number> {
  const { fromMinute = 0, toMinute = 1439 } = filter.timeOfDay ?? {};
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer from (
      select *, extract(hour from created_at at time zone 'UTC') * 60 + extract(minute from created_at at time zone 'UTC') as minute
      from conversations where owner_id = ${ownerId}
    ) as conversation
    where (${filter.search ?? null}::text is null or conversation_id in (
        select conversation_id from messages
        where owner_id = ${ownerId} and strpos(lower(content), lower(${filter.search ?? null})) > 0
        union select conversation_id from conversations,
          searched_values(metadata, variables, to_mobile_number, from_mobile_number) as value
        where owner_id = ${ownerId} and strpos(lower(value), lower(${filter.search ?? null})) > 0
      ))
      and (${filter.agent ?? null}::text is null or agent_id = ${filter.agent ?? null})
      and (${filter.type ?? null}::text is null or type = ${filter.type ?? null})
      and (${filter.callingType ?? null}::text is null or calling_type = ${filter.callingType ?? null})
      and (${filter.status ?? null}::text is null or status = ${filter.status ?? null})
      and (${filter.from ?? null}::timestamptz is null or created_at >= ${filter.from ?? null})
      and (${filter.to ?? null}::timestamptz is null or created_at <= ${filter.to ?? null})
      and case when ${fromMinute <= toMinute}::boolean then minute between ${fromMinute} and ${toMinute}
        else minute >= ${fromMinute} or minute <= ${toMinute} end`;
  return row?.count ?? 0;
}
