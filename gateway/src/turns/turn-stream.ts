import { setImmediate } from "node:timers/promises";
import type {
  ConversationServiceService,
  RunTurnsRequest,
  ToolNews,
  Turn,
  TurnEnd,
  TurnNews,
  TurnStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { cancelled, ServiceError } from "@parley/shared/errors";
import { actorText } from "@parley/shared/rpc/actor";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import { readStatus } from "@parley/shared/rpc/status";

export type Conversations = ServiceClient<typeof ConversationServiceService>;

/** How a turn is made, and who receives its events. */
export interface TurnCall extends CallOptions {
  origin: NonNullable<CallOptions["origin"]>;
  timeoutMs: number;
  /** Whether the reply comes in pieces, or whole. */
  streamed: boolean;
  onStarted(started: TurnStarted): void;
  /** @returns a promise while the reader is behind, or null */
  onText(text: string): Promise<void> | null;
  /** Takes a tool call, or its result, in a turn that tells of them. */
  onTool?(tool: ToolNews): void;
}

/** The turns that this process has at one replica of the conversation service, in one call that streams both ways. */
export interface TurnStream {
  /** Settles with the replica's name, or fails as the call does. */
  opened: Promise<string>;
  /** How many turns are in progress; null when it takes no further ones. */
  load(): number | null;
  /** @returns how the turn ended; null if the replica refused it, because it stops. @throws ServiceError */
  run(turn: Turn, call: TurnCall): Promise<TurnEnd | null>;
  /** Takes no further turns, and ends with the last. */
  retire(): void;
}

/**
 * Characters of a turn's reply that may be on their way, or wait here for its reader. An owner has at most 1,024 turns at one
 * replica (`PARLEY_OWNER_TURNS_MAX`), so 16 Mi characters.
 */
const CREDIT = 16 * 1024;
/** Each hop gives up this much before its caller does. */
const HOP_MARGIN_MS = 25;

interface RunningTurn {
  hear(news: TurnNews): void;
  fail(error: unknown): void;
}

export function openTurnStream({ runTurns }: Conversations): TurnStream {
  const turns = new Map<number, RunningTurn>();
  const opened = Promise.withResolvers<string>();
  const outbox = requestOutbox();
  let isRetired = false;
  let lastNumber = 0;

  async function read(): Promise<void> {
    let failure: unknown = unreachable();
    try {
      for await (const { replica, news, stopping } of runTurns(outbox.messages())) {
        opened.resolve(replica);
        if (stopping) retire();
        for (const each of news) turns.get(each.number)?.hear(each);
      }
    } catch (error) {
      failure = error;
    }
    isRetired = true;
    opened.reject(failure);
    for (const turn of [...turns.values()]) turn.fail(failure);
  }

  function retire(): void {
    isRetired = true;
    if (turns.size === 0) outbox.end();
  }

  function run(turn: Turn, call: TurnCall): Promise<TurnEnd | null> {
    const { origin, streamed } = call;
    const { promise, resolve, reject } = Promise.withResolvers<TurnEnd | null>();
    if (origin.signal?.aborted) throw cancelled();
    const number = ++lastNumber;
    const over = () => {
      clearTimeout(timer);
      origin.signal?.removeEventListener("abort", leave);
      turns.delete(number);
      if (isRetired) retire();
    };
    const giveUp = (error: ServiceError) => {
      outbox.next().cancels.push(number);
      over();
      reject(error);
    };
    const leave = () => giveUp(cancelled());
    const late = () => giveUp(new ServiceError("deadline", "The conversation service did not answer in time"));
    const tell = tellWithCredit(call, (characters) => {
      if (turns.has(number)) outbox.next().credits.push({ number, characters });
    });
    const inheritedMs = (origin.deadlineMs ?? Number.POSITIVE_INFINITY) - HOP_MARGIN_MS - Date.now();
    const timeoutMs = Math.max(0, Math.min(call.timeoutMs, inheritedMs));
    const timer = setTimeout(late, timeoutMs);
    origin.signal?.addEventListener("abort", leave, { once: true });

    turns.set(number, {
      hear(news) {
        const { end } = news;
        tell(news);
        if (!end) return;
        over();
        if (end.errorReplayed) call.onReplayed?.();
        if (end.error) reject(readStatus(end.error) ?? new ServiceError("internal", end.error.message));
        else resolve(end.refused ? null : end);
      },
      fail(error) {
        over();
        reject(error);
      },
    });
    const traceparent = call.traceparent ?? origin.traceparent ?? "";
    outbox.next().starts.push({
      number,
      turn,
      streamed,
      credit: CREDIT,
      timeoutMs,
      requestId: origin.requestId,
      traceparent,
      actor: origin.actor ? actorText(origin.actor) : "",
    });
    return promise;
  }

  void read();
  return { opened: opened.promise, load: () => (isRetired ? null : turns.size), run, retire };
}

/** Passes news on, and gives credit for the text that its reader has taken, half of it at a time. */
function tellWithCredit(
  { onStarted, onText, onTool }: TurnCall,
  give: (characters: number) => void,
): (news: Pick<TurnNews, "started" | "text" | "tools">) => void {
  let taken = 0;
  const took = (characters: number) => {
    taken += characters;
    if (taken < CREDIT / 2) return;
    give(taken);
    taken = 0;
  };
  const tellText = (text: string) => {
    if (text === "") return;
    const wait = onText(text);
    if (wait) void wait.then(() => took(text.length));
    else took(text.length);
  };
  return ({ started, text, tools }) => {
    if (started) onStarted(started);
    let told = 0;
    for (const tool of tools) {
      tellText(text.slice(told, tool.offset));
      told = tool.offset;
      onTool?.(tool);
    }
    tellText(text.slice(told));
  };
}

export function unreachable(): ServiceError {
  return new ServiceError("unavailable", "The conversation service is unreachable. Try again.", {
    retryAfterMs: 1_000,
  });
}

interface RequestOutbox {
  /** The message that leaves next; more may be added to it. */
  next(): RunTurnsRequest;
  /** Ends the messages after those that wait. */
  end(): void;
  messages(): AsyncGenerator<RunTurnsRequest>;
}

/** Requests of one turn of the event loop, or while the connection is behind, leave together. */
function requestOutbox(): RequestOutbox {
  let waiting: RunTurnsRequest | null = null;
  let hasEnded = false;
  let wake = Promise.withResolvers<void>();
  return {
    next() {
      wake.resolve();
      waiting ??= { starts: [], credits: [], cancels: [] };
      return waiting;
    },
    end() {
      hasEnded = true;
      wake.resolve();
    },
    async *messages() {
      for (;;) {
        await wake.promise;
        await setImmediate();
        wake = Promise.withResolvers();
        const request = waiting;
        waiting = null;
        if (request) yield request;
        if (hasEnded && !waiting) return;
      }
    },
  };
}
