import type { CallReport } from "@parley/proto/parley/conversation/v1/live.ts";
import { AGENT_STATES, nameOf, ROLES, TRANSFER_STATES } from "@parley/shared/domain/api-names";
import type { ConversationContext, Handler } from "../context.ts";
import type { Telling } from "../store/live.ts";
import { storable } from "../store/storable.ts";

/** Tells watchers what happens in a call. Nobody checks the call: without a watcher there is nothing to tell it to. */
export function reportCall({ live }: ConversationContext): Handler<"reportCall"> {
  return async ({ ownerId, conversationId, reports }) => {
    const told = reports.map(tellingOf).filter((telling) => telling !== null);
    return { isUnwatched: !(await live.tell({ ownerId, conversationId }, told)) };
  };
}

function tellingOf({ report }: CallReport): Telling | null {
  switch (report?.$case) {
    case "words": {
      const { role, offset, text } = report.value;
      return { event: "words", data: { role: nameOf(ROLES, role), offset, text: storable(text) } };
    }
    case "speaking":
      return { event: "speaking", data: { role: nameOf(ROLES, report.value.role), speaking: report.value.isSpeaking } };
    case "agent":
      return { event: "agent", data: { state: nameOf(AGENT_STATES, report.value) } };
    case "transfer": {
      const { to, state } = report.value;
      return { event: "transfer", data: { to: storable(to), state: nameOf(TRANSFER_STATES, state) } };
    }
    default:
      return null;
  }
}
