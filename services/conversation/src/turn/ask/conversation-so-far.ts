import type { ConversationContext } from "../../context.ts";
import type { ModelMessage } from "../../model/port.ts";
import { listMessagesBefore, type MessageRow } from "../../store/messages.ts";
import { type EarlierToolCall, listEarlierCalls, noteTold } from "../../store/turns/tool-ledger.ts";
import type { TurnTools } from "../../tools/turn-tools.ts";
import type { AcceptedTurn } from "../accept-turn.ts";
import { byteBudget } from "./context-window.ts";
import { withCalls } from "./with-calls.ts";

/**
 * What was said before a turn, and the user's message, if it has one. In a conversation with tool calls, first ends those that a
 * process left when it died, and notes which results the model is told now.
 * @returns a function that gives what was said from a sequence on, with the calls, and with what was found for the message before it; null for a call's turn that has neither a message nor
 * results to be told
 */
export async function conversationSoFar(
  { db, clock, limits }: Pick<ConversationContext, "db" | "clock" | "limits">,
  turn: AcceptedTurn,
  message: string | null,
  told: string | null,
  tools: Pick<TurnTools, "resume">,
): Promise<((fromSeq: number, found: string) => ModelMessage[]) | null> {
  const maxBytes = byteBudget(limits.contextTokens);
  // Of the next message: results are told before it.
  const seq = message === null ? turn.replySeq : turn.seq;
  const userMessage = (found: string) => {
    if (message === null) return [];
    const content = found === "" ? message : `${found}\n\n${message}`;
    return [{ seq, role: "user" as const, content, fillers: null }];
  };
  const note = told === null ? [] : [{ role: "user" as const, content: `[${told}]` }];
  if (!turn.hasToolCalls) {
    if (message === null && told === null) return null;
    const earlier = turn.earlier ?? (await listMessagesBefore(db, turn, seq, maxBytes));
    const firstSeq = seq - earlier.length;
    return (fromSeq, found) => [
      ...(fromSeq > firstSeq ? earlier.slice(fromSeq - firstSeq) : earlier).map(heardByModel),
      ...userMessage(found),
      ...note,
    ];
  }
  const readCalls = () => listEarlierCalls(db, turn, maxBytes, clock.now());
  const [earlier, known] = await Promise.all([listMessagesBefore(db, turn, seq, maxBytes), readCalls()]);
  const lost = known.filter((call) => isOpen(call) && !call.isLive);
  if (lost.length > 0) await tools.resume(lost);
  const calls = lost.length > 0 ? await readCalls() : known;
  const running = calls.filter((call) => isOpen(call) && !call.isBackground).map(idOf);
  const results = calls.filter((call) => call.isBackground && call.toldSeq === null && !isOpen(call)).map(idOf);
  if (running.length + results.length > 0) await noteTold(db, turn, { running, results, seq });
  const toldCalls = calls.map((call) => (results.includes(call.toolCallId) ? { ...call, toldSeq: seq } : call));
  const isTold = told !== null || toldCalls.some(({ toldSeq }) => toldSeq === seq);
  if (message === null && !turn.roundsBefore && !isTold) return null;
  return (fromSeq, found) => {
    const said = earlier.filter((each) => each.seq >= fromSeq).map(heardByModel);
    return [...withCalls([...said, ...userMessage(found)], toldCalls), ...note];
  };
}

/** For a model, what a person said who was connected is the user's side. */
function heardByModel<T extends { role: MessageRow["role"] }>(message: T): T & { role: "user" | "assistant" } {
  return { ...message, role: message.role === "assistant" ? "assistant" : "user" };
}

function isOpen({ state }: EarlierToolCall): boolean {
  return state === "REQUESTED" || state === "RUNNING";
}

function idOf({ toolCallId }: EarlierToolCall): string {
  return toolCallId;
}
