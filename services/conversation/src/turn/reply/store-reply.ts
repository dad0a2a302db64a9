import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../../context.ts";
import { isReplyStored } from "../../store/messages.ts";
import type { ReplySoFar, TurnEnd } from "../../store/turns/finish-turns.ts";
import { untilStored } from "../../store/until-stored.ts";
import type { AcceptedTurn } from "../accept-turn.ts";
import { closedTurn } from "./closed-turn.ts";
import { type Reply, waitsForClient } from "./reply.ts";

export interface EndedTurn {
  accepted: AcceptedTurn;
  reply: Reply;
  /** The request's idempotency key. */
  key: string | null;
  isStreamed: boolean;
  /** Whether checkpoints of the reply may be stored, which it then replaces. */
  checkpointed: boolean;
}

/**
 * Stores the reply, whole or partial, and releases the turn. Retries for about 25 seconds while the database is down.
 * @throws ServiceError conflict when the session went on, ended or was deleted before a whole reply could be stored
 */
export async function storeReply(ctx: ConversationContext, ended: EndedTurn, log: Logger): Promise<void> {
  await untilStored(log, () => store(ctx, ended, log));
}

/** The reply so far, in the form that is stored. */
export function replySoFar({ agent: { prompt }, text, by, toolCalls, isRejected }: Reply): ReplySoFar {
  if (isRejected)
    return { content: text, toolCalls, provider: null, model: null, promptName: null, promptVersion: null };
  return {
    content: text,
    toolCalls,
    provider: by.provider,
    model: by.name,
    promptName: prompt?.promptName ?? null,
    promptVersion: prompt?.promptVersion ?? null,
  };
}

async function store(ctx: ConversationContext, ended: EndedTurn, log: Logger): Promise<void> {
  const { db, clock, turnStore } = ctx;
  const { accepted, reply, key, isStreamed, checkpointed } = ended;
  const { text, usage, costUsdMicros, startedAt, firstTextAt, language, isWhole, partialReason, toolCalls, knowledge } =
    reply;
  if (text === "" && !waitsForClient(reply))
    return turnStore.releaseTurn({ ...accepted, language, toolCalls, now: clock.now() });
  const isStored = await turnStore.finishTurn(
    accepted,
    {
      ...replySoFar(reply),
      partial: !isWhole || partialReason !== null,
      partialReason,
      knowledge,
      usage,
      costUsdMicros,
      // Unknown for a non-streamed reply.
      firstWordMs: isStreamed && firstTextAt !== null ? Math.round(firstTextAt - startedAt) : null,
      totalMs: Math.round(performance.now() - startedAt),
    },
    clock.now(),
    { checkpointed, language, ended: isWhole ? endingOf(reply) : null, key, done: isWhole },
  );
  // An earlier attempt may have stored it without learning so.
  if (isStored || (await isReplyStored(db, accepted, text))) return;
  log.warn({ session_id: accepted.conversationId }, "a reply arrived after its turn had closed");
  // The client must not believe in a reply that the session does not have.
  if (isWhole) throw await closedTurn(ctx, accepted, { conversation: "session", unstored: "this reply" });
}

function endingOf({ ends, isRejected }: Reply): TurnEnd["ended"] {
  if (isRejected) return "DISCONNECTED";
  return ends ? "COMPLETED" : null;
}
