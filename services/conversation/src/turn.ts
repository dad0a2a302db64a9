import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/server";
import { compileTexts } from "@parley/shared/variables/template";
import type { ConversationContext } from "./context.ts";
import { fitContext } from "./context-window.ts";
import type { Model, ModelRequest, TokenUsage, ToolCall } from "./model/port.ts";
import { type ModelWatch, watchModel } from "./model/watch.ts";
import type { AcceptedTurn } from "./open-session.ts";
import { persistently } from "./persistently.ts";
import { listMessagesBefore } from "./store/messages.ts";
import { endTurnKey } from "./store/turn-keys.ts";
import { finishTurn, releaseTurn } from "./store/turns.ts";
import { chatTools, farewellOf } from "./tools.ts";
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
    const watch = this.#watch();
    const lease = keepTurn(this.#ctx, this.#accepted);
    const words = wordCutter();
    let failure: unknown = null;
    let left = true;
    try {
      yield { type: "started", sessionId: this.sessionId };
      for await (const event of this.#model.stream(await this.#request(), watch.signal)) {
        watch.piece();
        if (event.type === "tool_call") this.#toolCalls.push(event.call);
        else if (event.type === "finish") this.#usage = event.usage;
        else {
          this.#firstWordMs ??= Math.round(performance.now() - this.#startedAt);
          this.#text += event.text;
          const complete = words.push(event.text);
          if (complete !== "") yield { type: "text", text: complete };
        }
      }
      const rest = words.end() + this.#farewell();
      if (rest !== "") yield { type: "text", text: rest };
      left = false;
    } catch (error) {
      failure = error;
      left = false;
    } finally {
      watch.done();
      lease.stop();
      await this.#finish(failure !== null || left);
    }
    if (failure) throw this.#failure(failure);
  }

  async complete(): Promise<string> {
    const watch = this.#watch();
    const lease = keepTurn(this.#ctx, this.#accepted);
    let failure: unknown = null;
    try {
      const reply = await this.#model.complete(await this.#request(), watch.signal);
      this.#text = reply.text;
      this.#toolCalls = reply.toolCalls;
      this.#usage = reply.usage;
      this.#farewell();
    } catch (error) {
      failure = error;
    } finally {
      watch.done();
      lease.stop();
      await this.#finish(failure !== null);
    }
    if (failure) throw this.#failure(failure);
    return this.#text;
  }

  #watch(): ModelWatch {
    return watchModel(this.#model.provider, this.#ctx.limits.model, this.#call.signal);
  }

  async #request(): Promise<ModelRequest> {
    const { prompt, firstMessagePrompt, llm, tools } = this.#agent;
    const texts = compileTexts([prompt?.promptContent ?? "", firstMessagePrompt ?? ""]);
    const system = texts.fill(0, this.#accepted.variables);
    const earlier =
      this.#accepted.seq > 1 ? await listMessagesBefore(this.#ctx.db, this.#accepted, this.#accepted.seq) : [];
    const messages = [...earlier, { role: "user" as const, content: this.#turn.message }];
    return {
      system,
      messages: fitContext(system, messages, this.#ctx.limits.contextTokens),
      temperature: llm?.params?.temperature,
      tools: chatTools(tools),
    };
  }

  /** A model that ends the call without a word still says goodbye. */
  #farewell(): string {
    const farewell = this.#text === "" ? farewellOf(this.#toolCalls, this.#agent.tools) : "";
    this.#text += farewell;
    return farewell;
  }

  async #finish(partial: boolean): Promise<void> {
    const { db, clock } = this.#ctx;
    const keyed = this.#turn.idempotency !== undefined;
    await persistently(this.#call.log, async () => {
      if (this.#text === "") {
        await releaseTurn(db, this.#accepted, clock.now());
        if (keyed && !partial) await endTurnKey(db, this.#accepted.ownerId, this.#accepted.turnId);
        return;
      }
      await finishTurn(
        db,
        this.#accepted,
        {
          content: this.#text,
          partial,
          provider: this.#model.provider,
          model: this.#model.name,
          promptName: this.#agent.prompt?.promptName ?? null,
          promptVersion: this.#agent.prompt?.promptVersion ?? null,
          usage: this.#usage,
          firstWordMs: this.#firstWordMs,
          totalMs: Math.round(performance.now() - this.#startedAt),
        },
        clock.now(),
        { ended: !partial && this.#toolCalls.some((call) => call.name === "end_call"), keyed },
      );
    });
  }

  /** The failure, with the session it happened in: a client can go on there. */
  #failure(error: unknown): unknown {
    if (!(error instanceof ServiceError)) return error;
    return new ServiceError(error.kind, error.detail, {
      cause: error,
      metadata: { ...error.metadata, session_id: this.sessionId },
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    });
  }
}
