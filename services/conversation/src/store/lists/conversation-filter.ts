import type { Sql } from "@parley/shared/db/database";
import type { ConversationRow, StatusName, TypeName } from "../conversations.ts";
import type { TimeOfDay } from "./count-periods.ts";

/** Null and empty fields do not filter. */
export interface ConversationFilter {
  ownerId: string;
  search: string;
  conversationId: string;
  agentId: string;
  /** Of that agent. */
  agentVersion: number | null;
  type: TypeName | null;
  callingType: ConversationRow["callingType"];
  status: StatusName | null;
  isTest: boolean | null;
  from: Date | null;
  to: Date | null;
  timeOfDay: TimeOfDay | null;
}

export const NO_FILTER: Omit<ConversationFilter, "ownerId"> = {
  search: "",
  conversationId: "",
  agentId: "",
  agentVersion: null,
  type: null,
  callingType: null,
  status: null,
  isTest: null,
  from: null,
  to: null,
  timeOfDay: null,
};

/** The SQL condition for matching rows of `conversations`, without the search. */
export function matching(sql: Sql, filter: ConversationFilter) {
  const minute = sql`minute_since_1970(created_at) % 1440`;
  return sql`
    owner_id = ${filter.ownerId}
    ${filter.conversationId === "" ? sql`` : sql`and conversation_id = ${filter.conversationId}`}
    ${filter.agentId === "" ? sql`` : sql`and agent_id = ${filter.agentId}`}
    ${filter.agentVersion === null ? sql`` : sql`and agent_version = ${filter.agentVersion}`}
    ${filter.type === null ? sql`` : sql`and type = ${filter.type}`}
    ${filter.callingType === null ? sql`` : sql`and calling_type = ${filter.callingType}`}
    ${filter.status === null ? sql`` : sql`and status = ${filter.status}`}
    ${filter.isTest === null ? sql`` : sql`and is_test_call = ${filter.isTest}`}
    ${filter.from === null ? sql`` : sql`and created_at >= ${filter.from}`}
    ${filter.to === null ? sql`` : sql`and created_at <= ${filter.to}`}
    ${
      filter.timeOfDay === null
        ? sql``
        : filter.timeOfDay.from <= filter.timeOfDay.to
          ? sql`and ${minute} between ${filter.timeOfDay.from} and ${filter.timeOfDay.to}`
          : sql`and (${minute} >= ${filter.timeOfDay.from} or ${minute} <= ${filter.timeOfDay.to})`
    }`;
}
