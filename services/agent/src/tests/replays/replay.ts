import type { AgentContext } from "../../context.ts";
import { equivalenceQuestion } from "../judge.ts";
import { type Attempt, holdAttempt, verdictOn } from "../runs/attempt.ts";
import { finishedOf } from "../runs/finished.ts";
import { readConversation } from "../runs/read-conversation.ts";
import { shownTranscript } from "../runs/shown.ts";
import type { EndedAttempt } from "../store/attempts.ts";
import { compareConversations, type Difference, haveDocumentsChanged, withGreetingOf } from "./compare.ts";
import { messagesOf, mocksOf } from "./recorded.ts";

/**
 * Has the user of a stored conversation talk to another version, whose tools answer what they answered then.
 * @returns PASSED when nothing differs
 */
export async function replayConversation(
  ctx: Pick<AgentContext, "conversations" | "voices">,
  attempt: Attempt,
  conversationId: string,
): Promise<EndedAttempt> {
  const { ownerId, origin, so } = attempt;
  const recorded = await readConversation(ctx, { ownerId, conversationId }, origin);
  const messages = messagesOf(recorded);
  if (messages.length === 0) {
    const error = "The user of this conversation said nothing, so there is nothing to replay";
    return { status: "ERROR", conversationId: null, outcome: { error } };
  }
  const before = finishedOf(recorded);
  const definition = {
    ...attempt.definition,
    messages,
    variables: (recorded.dynamicVariables ?? {}) as Record<string, unknown>,
    tool_mocks: mocksOf(recorded),
  };
  const wantsAnalysis = Object.keys(before.analysis).length > 0;
  const { conversation: after, ask } = await holdAttempt(ctx, { ...attempt, definition, once: true }, wantsAnalysis);
  const differences: Difference[] = compareConversations(before, after);
  const answer = await verdictOn(ask, equivalenceQuestion(before, withGreetingOf(before, after)), null);
  if (answer?.verdict !== "yes")
    differences.push({ what: "reply", reason: answer?.reason ?? "The judge gave no verdict" });
  return {
    status: differences.length === 0 ? "PASSED" : "FAILED",
    conversationId: so.conversationId,
    outcome: {
      ...{ differences, transcript: shownTranscript(after) },
      ...(haveDocumentsChanged(before, after) && { documents_changed: true }),
    },
  };
}
