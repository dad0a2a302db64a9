import type { ConversationContext } from "../../context.ts";
import type { ModelMessage } from "../../model/port.ts";
import { listMessagesBefore } from "../../store/messages.ts";
import { type EarlierToolCall, listEarlierCalls, noteTold } from "../../store/turns/tool-ledger.ts";
import type { TurnTools } from "../../tools/turn-tools.ts";
import type { AcceptedTurn } from "../accept-turn.ts";
import { byteBudget } from "./context-window.ts";
import { withCalls } from "./with-calls.ts";

/**
 * What was said before a turn, and the user's message. In a conversation with tool calls, first ends those that a process left when
 * it died, and notes which results the model is told now.
 */
export async function conversationSoFar(
  { db, clock, limits }: Pick<ConversationContext, "db" | "clock" | "limits">,
  turn: AcceptedTurn,
  message: string,
  tools: Pick<TurnTools, "resume">,
): Promise<ModelMessage[]> {
  const maxBytes = byteBudget(limits.contextTokens);
  const asked = { seq: turn.seq, role: "user" as const, content: message };
  if (!turn.hasToolCalls) {
    const earlier = turn.earlier ?? (await listMessagesBefore(db, turn, turn.seq, maxBytes));
    return [...earlier, asked];
  }
  const readCalls = () => listEarlierCalls(db, turn, maxBytes, clock.now());
  const [earlier, known] = await Promise.all([listMessagesBefore(db, turn, turn.seq, maxBytes), readCalls()]);
  const lost = known.filter((call) => isOpen(call) && !call.isLive);
  if (lost.length > 0) await tools.resume(lost);
  const calls = lost.length > 0 ? await readCalls() : known;
  const running = calls.filter((call) => isOpen(call) && !call.isBackground).map(idOf);
  const results = calls.filter((call) => call.isBackground && call.toldSeq === null && !isOpen(call)).map(idOf);
  if (running.length + results.length > 0) await noteTold(db, turn, { running, results, seq: turn.seq });
  const told = calls.map((call) => (results.includes(call.toolCallId) ? { ...call, toldSeq: turn.seq } : call));
  return withCalls([...earlier, asked], told);
}

function isOpen({ state }: EarlierToolCall): boolean {
  return state === "REQUESTED" || state === "RUNNING";
}

function idOf({ toolCallId }: EarlierToolCall): string {
  return toolCallId;
}
