import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import { isReplyStored } from "../store/messages.ts";
import { finishTurn, type ReplySoFar, releaseTurn } from "../store/turns.ts";
import type { AcceptedTurn } from "./accept-turn.ts";
import type { Reply } from "./speak.ts";
import { untilStored } from "./until-stored.ts";

export interface EndedTurn {
  accepted: AcceptedTurn;
  agent: AgentRuntime;
  reply: Reply;
  /** The request's idempotency key. */
  key: string | null;
  /** When the turn began, as `performance.now()` tells it. */
  startedAt: number;
  isStreamed: boolean;
  /** Whether checkpoints of the reply may be stored: it takes their place. */
  checkpointed: boolean;
}

/**
 * Stores the reply, whole or partial, and lets the turn go; waits about 25 seconds for a database that is away.
 * @throws ServiceError conflict when the session went on before a whole reply could be stored
 */
export async function storeReply(ctx: ConversationContext, ended: EndedTurn, log: Logger): Promise<void> {
  await untilStored(log, () => store(ctx, ended, log));
}

/** What there is of a reply, as it is stored. */
export function replySoFar({ text, by }: Reply, { prompt }: AgentRuntime): ReplySoFar {
  return {
    content: text,
    provider: by.provider,
    model: by.name,
    promptName: prompt?.promptName ?? null,
    promptVersion: prompt?.promptVersion ?? null,
  };
}

async function store({ db, clock }: ConversationContext, ended: EndedTurn, log: Logger): Promise<void> {
  const { accepted, agent, reply, key, startedAt, isStreamed, checkpointed } = ended;
  const { text, usage, firstTextAt, language, ends, isWhole } = reply;
  if (text === "") return releaseTurn(db, accepted, clock.now(), language);
  const isStored = await finishTurn(
    db,
    accepted,
    {
      ...replySoFar(reply, agent),
      partial: !isWhole,
      usage,
      // Unknown for a non-streamed reply.
      firstWordMs: isStreamed && firstTextAt !== null ? Math.round(firstTextAt - startedAt) : null,
      totalMs: Math.round(performance.now() - startedAt),
    },
    clock.now(),
    { checkpointed, language, ended: isWhole && ends, key },
  );
  // A try before this one may have stored it and not heard of that.
  if (isStored || (await isReplyStored(db, accepted, text))) return;
  log.warn({ session_id: accepted.conversationId }, "a reply came when its turn was no longer open");
  // Nobody may take for said what the session does not have.
  if (isWhole) throw new ServiceError("conflict", "The session went on before this reply could be stored");
}
