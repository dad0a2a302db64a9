import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/server";
import type { ConversationContext } from "./context.ts";
import type { Model, ModelRequest, TokenUsage, ToolCall } from "./model/port.ts";
import { type ModelWatch, watchModel } from "./model/watch.ts";
import { modelRequest } from "./model-request.ts";
import type { AcceptedTurn } from "./open-session.ts";
import { persistently } from "./persistently.ts";
import { finishTurn, releaseTurn } from "./store/turns.ts";
import { farewellOf } from "./tools.ts";
import { keepTurn } from "./turn-lease.ts";
import { wordCutter } from "./words.ts";

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
export async function prepareTurn(ctx: ConversationContext, turn: Turn): Promise<PreparedTurn> {
  const agent = await ctx.getAgent(turn.ownerId, turn.agentId);
  if (!agent.llm) throw new ServiceError("condition", "Agent has no LLM configuration");
  return { agent, model: ctx.selectModel(agent.llm) };
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
): ReadyTurn {
  return new RunningTurn(ctx, turn, prepared, accepted, call);
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
  readonly #startedAt = performance.now();
  #text = "";
  #toolCalls: ToolCall[] = [];
  #usage: TokenUsage = { inputTokens: undefined, outputTokens: undefined };
  #firstWordMs: number | null = null;
  #isWhole = false;
  #watch: ModelWatch | null = null;
  #lease: { stop(): void } | null = null;

  constructor(
    ctx: ConversationContext,
    turn: Turn,
    { agent, model }: PreparedTurn,
    accepted: AcceptedTurn,
    call: Call,
  ) {
    this.sessionId = accepted.conversationId;
    this.#ctx = ctx;
    this.#turn = turn;
    this.#agent = agent;
    this.#model = model;
    this.#accepted = accepted;
    this.#call = call;
  }

  async *stream(): AsyncGenerator<TurnEvent> {
    const watch = this.#begin();
    const words = wordCutter();
    let failure: unknown = null;
    try {
      yield { type: "started", sessionId: this.sessionId };
      for await (const event of this.#model.stream(await this.#request(), watch.signal)) {
        watch.pause();
        if (event.type === "tool_call") this.#toolCalls.push(event.call);
        else if (event.type === "finish") this.#usage = event.usage;
        else {
          this.#firstWordMs ??= Math.round(performance.now() - this.#startedAt);
          const complete = words.push(this.#say(event.text));
          if (complete !== "") yield { type: "text", text: complete };
        }
        watch.resume();
      }
      const rest = words.end() + this.#conclude();
      if (rest !== "") yield { type: "text", text: rest };
    } catch (error) {
      failure = error;
    } finally {
      // Also when the client leaves, which ends a generator where it waits.
      await this.#end();
    }
    if (failure) throw this.#failure(failure);
  }

  async complete(): Promise<string> {
    const watch = this.#begin();
    let failure: unknown = null;
    try {
      const reply = await this.#model.complete(await this.#request(), watch.signal);
      this.#toolCalls = reply.toolCalls;
      this.#usage = reply.usage;
      this.#say(reply.text);
      this.#conclude();
    } catch (error) {
      failure = error;
    } finally {
      await this.#end();
    }
    if (failure) throw this.#failure(failure);
    return this.#text;
  }

  #begin(): ModelWatch {
    const { limits, turns } = this.#ctx;
    this.#lease = keepTurn(this.#ctx, this.#accepted);
    this.#watch = watchModel(this.#model.provider, limits.model, {
      clientGone: this.#call.signal,
      cutOff: turns.cutOff,
    });
    return this.#watch;
  }

  #request(): Promise<ModelRequest> {
    return modelRequest(this.#ctx, this.#agent, this.#accepted, this.#turn.message);
  }

  #say(text: string): string {
    this.#text += text;
    return text;
  }

  /** The model has said all it wanted to; one that ends the conversation without a word still says goodbye. */
  #conclude(): string {
    const farewell = this.#text === "" ? this.#say(farewellOf(this.#toolCalls, this.#agent.tools)) : "";
    if (this.#text === "") {
      throw new ServiceError("upstream_failed", `The ${this.#model.provider} model gave an empty answer`);
    }
    this.#isWhole = true;
    return farewell;
  }

  /** The lease is held until the reply is stored, or another turn could begin before it. */
  async #end(): Promise<void> {
    this.#watch?.done();
    try {
      await persistently(this.#call.log, () => this.#store());
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#lease?.stop();
    }
  }

  async #store(): Promise<void> {
    const { db, clock } = this.#ctx;
    if (this.#text === "") return releaseTurn(db, this.#accepted, clock.now());
    const isStored = await finishTurn(
      db,
      this.#accepted,
      {
        content: this.#text,
        partial: !this.#isWhole,
        provider: this.#model.provider,
        model: this.#model.name,
        promptName: this.#agent.prompt?.promptName ?? null,
        promptVersion: this.#agent.prompt?.promptVersion ?? null,
        usage: this.#usage,
        firstWordMs: this.#firstWordMs,
        totalMs: Math.round(performance.now() - this.#startedAt),
      },
      clock.now(),
      {
        ended: this.#isWhole && this.#toolCalls.some((call) => call.name === "end_call"),
        key: this.#turn.idempotency?.key ?? null,
      },
    );
    if (!isStored) this.#call.log.warn({ session_id: this.sessionId }, "a reply came when its turn was no longer open");
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

function databaseUnreachable(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "The database is unreachable, try again", { retryAfterMs: 1000, cause });
}
