import { createHash } from "node:crypto";
import { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isFull } from "@parley/shared/domain/full";
import { isStartFailure } from "@parley/shared/domain/start-webhook";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import type { ThreadContext } from "../context.ts";
import type { OpenTurn } from "../store/threads.ts";

/** Longer than any turn may take: the conversation service's limits end it first. */
const TIMEOUT_MS = 660_000;

type Answer =
  /** The text is empty if the agent has nothing to say. */
  | { type: "reply"; text: string; sequence: number }
  /** Another attempt may succeed, with a new id if this one's failure is stored. */
  | { type: "later"; reason: string; asNew: boolean; afterMs: number | null }
  /** The owner has no room for another turn. */
  | { type: "full" }
  /** The turn was refused, perhaps because the conversation has ended. */
  | { type: "ended"; reason: string }
  | { type: "refused"; reason: string };

/** Kinds of errors that another attempt would get too. */
const FINAL: readonly ErrorKind[] = ["invalid", "forbidden", "not_found", "unimplemented", "unauthenticated"];

/** Runs the turn in the conversation service. Repeated after a crash, it gets the reply of the first attempt. */
export async function askAgent(
  { conversations, channelOf }: ThreadContext,
  turn: OpenTurn,
  gone: AbortSignal,
): Promise<Answer> {
  const { name, conversationType } = channelOf(turn.channel);
  const { ownerId, agentId, conversationId, turnId, turnText } = turn;
  const fingerprint = createHash("sha256").update(turnText).digest();
  const request = Turn.fromPartial({
    ownerId,
    agentId,
    sessionId: conversationId,
    message: turnText,
    idempotency: { key: `${name} ${turnId}`, fingerprint },
    type: conversationType,
  });
  const origin = { requestId: turnId, signal: gone };
  try {
    const { response, replySequence } = await conversations.completeTurn(
      { turn: request },
      { origin, timeoutMs: TIMEOUT_MS },
    );
    return { type: "reply", text: response, sequence: replySequence };
  } catch (error) {
    if (gone.aborted || !(error instanceof ServiceError)) throw error;
    if (isFull(error)) return { type: "full" };
    const { kind, detail: reason } = error;
    // Another attempt would begin another conversation, and ask again.
    if (isStartFailure(error)) return { type: "refused", reason };
    if (kind === "condition") return { type: "ended", reason };
    if (FINAL.includes(kind)) return { type: "refused", reason };
    return { type: "later", reason, asNew: kind === "conflict", afterMs: error.retryAfterMs ?? null };
  }
}
