import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import type { Model, ModelEvent, ModelRequest } from "../model/port.ts";
import { watchModel } from "../model/watch.ts";
import { isReplyStored } from "../store/messages.ts";
import { finishTurn, type ReplySoFar, releaseTurn } from "../store/turns.ts";
import { llmOf } from "./llm-of.ts";
import { modelRequest } from "./model-request.ts";
import type { AcceptedTurn } from "./open-session.ts";
import { persistently } from "./persistently.ts";
import { checkpointReply } from "./reply-checkpoints.ts";
import { emptyReply, type Reply, speak } from "./speak.ts";
import { keepTurn } from "./turn-lease.ts";
import { outOfTurnMemory, type TurnMemory } from "./turn-memory.ts";

export type TurnEvent = { type: "started"; sessionId: string } | { type: "text"; text: string };

/** What a turn needs before its user message can be accepted. */
export interface PreparedTurn {
  agent: AgentRuntime;
  model: Model;
}

/** A turn whose user message is stored. */
export interface ReadyTurn {
  sessionId: string;
  /** An earlier request with the same idempotency key got this reply. */
  replayed: boolean;
  /** The reply as it is made, in pieces that end at word boundaries; before it the session, so that a client has it early. */
  stream(): AsyncGenerator<TurnEvent>;
  /** The reply in one. */
  complete(): Promise<string>;
}

/** @throws ServiceError forbidden, not_found, or condition when the agent has no model that can be called */
export async function prepareTurn(ctx: ConversationContext, turn: Turn, { log }: Call): Promise<PreparedTurn> {
  const agent = await ctx.getAgent(turn.ownerId, turn.agentId);
  return { agent, model: ctx.selectModel(llmOf(agent), log) };
}

/**
 * One turn, from the accepted user message to the stored reply (decisions.md: Chat, whole-turn order). The user message is
 * durable before the model is called; whatever the model produced is stored, whoever leaves meanwhile.
 */
export function runTurn(
  ctx: ConversationContext,
  turn: Turn,
  prepared: PreparedTurn,
  accepted: AcceptedTurn,
  call: Call,
  memory: TurnMemory,
): ReadyTurn {
  return new RunningTurn(ctx, turn, prepared, accepted, call, memory);
}

class RunningTurn implements ReadyTurn {
  readonly replayed = false;
  readonly sessionId: string;
  readonly #ctx: ConversationContext;
  readonly #turn: Turn;
  readonly #agent: AgentRuntime;
  readonly #model: Model;
  readonly #accepted: AcceptedTurn;
  readonly #call: Call;
  readonly #memory: TurnMemory;
  readonly #letMemoryGo: () => void;
  readonly #reply: Reply;
  readonly #startedAt = performance.now();
  #isStreamed = false;

  constructor(
    ctx: ConversationContext,
    turn: Turn,
    { agent, model }: PreparedTurn,
    accepted: AcceptedTurn,
    call: Call,
    memory: TurnMemory,
  ) {
    this.sessionId = accepted.conversationId;
    this.#ctx = ctx;
    this.#turn = turn;
    this.#agent = agent;
    this.#model = model;
    this.#accepted = accepted;
    this.#call = call;
    this.#memory = memory;
    this.#letMemoryGo = memory.keep();
    this.#reply = emptyReply(model);
  }

  async *stream(): AsyncGenerator<TurnEvent> {
    this.#isStreamed = true;
    yield* this.#run((request, signal) => this.#model.stream(request, signal));
  }

  async complete(): Promise<string> {
    for await (const _ of this.#run((request, signal) => wholeEvents(this.#model, request, signal)));
    return this.#reply.text;
  }

  async *#run(
    ask: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>,
  ): AsyncGenerator<TurnEvent> {
    const { limits, turns } = this.#ctx;
    const lease = keepTurn(this.#ctx, this.#accepted);
    const checkpoints = checkpointReply(this.#ctx, this.#accepted, () => this.#soFar(), this.#call.log);
    const watch = watchModel(() => this.#reply.by.provider, limits.model, {
      clientGone: this.#call.signal,
      cutOff: turns.cutOff,
    });
    let failure: unknown = null;
    try {
      yield { type: "started", sessionId: this.sessionId };
      const request = await modelRequest(this.#ctx, this.#agent, this.#accepted, this.#turn.message);
      const asked = charactersOf(request);
      const hasRoom = (said: number, received = 0) =>
        this.#memory.holds((asked + said) * BYTES_PER_CHARACTER + received * BYTES_PER_RECEIVED);
      if (!hasRoom(0)) throw outOfTurnMemory();
      const meter = {
        ownerId: this.#turn.ownerId,
        received: (bytes: number) => {
          if (!hasRoom(this.#reply.text.length, bytes)) watch.fail(outOfTurnMemory());
        },
      };
      const speaking = {
        ask: (asked: ModelRequest) => ask({ ...asked, meter }, watch.signal),
        request,
        watch,
        hasRoom,
        limits: limits.model,
      };
      for await (const text of speak(this.#reply, { ...speaking, tools: this.#agent.tools }))
        yield { type: "text", text };
    } catch (error) {
      failure = error;
    } finally {
      // Also when the client leaves, which ends a generator where it waits.
      watch.done();
      checkpoints.stop();
      await this.#end(lease, checkpoints.begun).finally(this.#letMemoryGo);
    }
    if (failure) throw this.#failure(failure);
  }

  /** The lease is held until the reply is stored, or another turn could begin before it. */
  async #end(lease: { stop(): void }, checkpointed: boolean): Promise<void> {
    try {
      await persistently(this.#call.log, () => this.#store(checkpointed));
    } catch (error) {
      throw this.#failure(error);
    } finally {
      lease.stop();
    }
  }

  #soFar(): ReplySoFar {
    const { text, by } = this.#reply;
    return {
      content: text,
      provider: by.provider,
      model: by.name,
      promptName: this.#agent.prompt?.promptName ?? null,
      promptVersion: this.#agent.prompt?.promptVersion ?? null,
    };
  }

  async #store(checkpointed: boolean): Promise<void> {
    const { db, clock } = this.#ctx;
    const { text, usage, firstTextAt, language, ends, isWhole } = this.#reply;
    if (text === "") return releaseTurn(db, this.#accepted, clock.now(), language);
    const isStored = await finishTurn(
      db,
      this.#accepted,
      {
        ...this.#soFar(),
        partial: !isWhole,
        usage,
        // Of an answer that came whole nobody knows.
        firstWordMs: this.#isStreamed && firstTextAt !== null ? Math.round(firstTextAt - this.#startedAt) : null,
        totalMs: Math.round(performance.now() - this.#startedAt),
      },
      clock.now(),
      { checkpointed, language, ended: isWhole && ends, key: this.#turn.idempotency?.key ?? null },
    );
    // A try before this one may have stored it and not heard of that.
    if (isStored || (await isReplyStored(db, this.#accepted, text))) return;
    this.#call.log.warn({ session_id: this.sessionId }, "a reply came when its turn was no longer open");
    // Nobody may take for said what the session does not have.
    if (isWhole) throw new ServiceError("conflict", "The session went on before this reply could be stored");
  }

  /** The failure, with the session it happened in: a client can go on there. */
  #failure(error: unknown): unknown {
    const known = isUnreachableDatabase(error) ? databaseUnreachable(error) : error;
    if (!(known instanceof ServiceError)) return known;
    return new ServiceError(known.kind, known.detail, {
      cause: known,
      metadata: { ...known.metadata, session_id: this.sessionId },
      ...(known.retryAfterMs !== undefined && { retryAfterMs: known.retryAfterMs }),
    });
  }
}

/** A text, and a copy of it on its way to or from somebody. */
const BYTES_PER_CHARACTER = 2;
/** What arrives is there as bytes and as text. */
const BYTES_PER_RECEIVED = 2;

function charactersOf({ system, messages }: ModelRequest): number {
  return messages.reduce((sum, { content }) => sum + content.length, system.length);
}

function databaseUnreachable(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "The database is unreachable, try again", { retryAfterMs: 1000, cause });
}

/** A whole answer as a stream of few parts, all there at once. */
async function* wholeEvents(model: Model, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { by, text, toolCalls, usage } = await model.complete(request, signal);
  if (text !== "") yield { type: "text", text, by };
  for (const call of toolCalls) yield { type: "tool_call", call, by };
  yield { type: "finish", usage, by };
}
