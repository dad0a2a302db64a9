import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  AppendTranscriptRequest,
  type CallAction,
  type ClientCall,
  type ConversationServiceService,
  ConverseRequest,
  type ToolEnded,
  type ToolNews,
  type ToolStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Clock } from "@parley/shared/clock";
import { databaseUnreachable, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { ROLES } from "@parley/shared/domain/api-names";
import { ServiceError } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { PassingTime } from "@parley/shared/shares/passing-time";

/** The calls to the conversation service that a call makes; an external runtime has no others. */
export type Conversations = Pick<
  ServiceClient<typeof ConversationServiceService>,
  | "getCallSetup"
  | "startConversation"
  | "appendTranscript"
  | "converse"
  | "runCallTool"
  | "waitForToolCalls"
  | "giveClientResult"
  | "askModel"
  | "reportCall"
  | "completeConversation"
>;

/**
 * Stores what is said in a call in the conversation service. Messages are stored one after the other, even through outages: each
 * is sent until it is stored or refused permanently.
 */
export interface Transcript {
  /**
   * Stores a message that needs no answer. An operator's is the assistant's, marked.
   * @param latency the latency of a spoken reply: the stages that were measured
   * @param startedAt when its first word was heard, by the call's clock; null if that is not known
   */
  append(
    role: keyof typeof ROLES | "operator",
    text: string,
    latency?: Partial<TurnLatency> | undefined,
    startedAt?: number | null,
  ): void;
  /** Asks the agent's model for an answer to what the user began to say at `startedAt`. */
  ask(text: string, events: AnswerEvents, startedAt?: number | null): Answer;
  /**
   * Asks it to answer results of tools that it has not been told; it says nothing if there are none.
   * @param told what else has happened, which it answers too
   */
  askResults(events: AnswerEvents, told?: string): Answer;
  /** Settles with those of these tool calls that have ended, once there are some, nobody can tell, or the signal aborts. Never rejects. */
  ended(toolCallIds: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  /** Settles when everything is stored, or cannot be. */
  settled(): Promise<void>;
}

export interface AnswerEvents {
  text(text: string): void;
  action(action: NonNullable<CallAction["action"]>): void;
  /** The model has called a tool that takes time; the answer waits for it, unless it runs in the background. */
  toolStarted(tool: ToolStarted): void;
  toolEnded(toolCallId: string): void;
  /** The model had called it when the user interrupted: it goes on, and the answer is over. */
  toolLeft(tool: ToolStarted): void;
  /** A call for the client, also if the answer is over already. */
  clientCall(call: ClientCall): void;
  /** Of each tool call and each result, if the turn tells of them. */
  toolNews(news: ToolNews): void;
  /** All words and actions have arrived. */
  complete(): void;
  /** The answer failed: no words arrived, and none will. */
  failed(error: ServiceError): void;
  /** The service is down; the question is asked again. */
  delayed(): void;
}

export interface Answer {
  /** Reports what was heard so far. */
  hear(text: string): void;
  /**
   * Reports everything that was heard, and since when; nothing follows.
   * @param fillers what was said besides the model's words, in order
   */
  settle(text: string, latency: Partial<TurnLatency>, startedAt: number | null, fillers: readonly string[]): void;
}

interface TranscriptOptions {
  conversations: Conversations;
  key: { ownerId: string; conversationId: string };
  /** Sequence of the newest message that is stored. */
  lastSequence: number;
  clock: PassingTime;
  /** The time that messages have, on the clock that all processes share. */
  time: Clock;
  /** What each turn says of the call's client and its watchers. */
  tools(): { clientTools: boolean; tellsTools: boolean };
  /** Set when nothing more can be stored: the conversation has ended elsewhere, or is gone. */
  refused(error: ServiceError): void;
}

const NONE: { ended: string[] } = { ended: [] };
/** How long one request waits for the end of a tool. */
const WAIT_MS = 20_000;
/** Waits between tries. A service that restarts is back within seconds; a call is not worth more than two minutes. */
const DELAYS_MS: readonly number[] = [100, 200, 400, 800, ...new Array<number>(120).fill(1_000)];
/** How long the agent may be silent before it asks for patience. */
const PATIENCE_MS = 2_500;

export function transcript(options: TranscriptOptions): Transcript {
  const { conversations, key, lastSequence, clock, time, refused } = options;
  let last = lastSequence;
  let queue: Promise<void> = Promise.resolve();

  function enqueue(work: (sequence: number) => Promise<number>): void {
    queue = queue
      .then(async () => {
        last = await work(last + 1);
      })
      .catch((error) => refused(asServiceError(error)));
  }

  async function append(
    sequence: number,
    by: { role: (typeof ROLES)[keyof typeof ROLES]; byOperator: boolean },
    content: string,
    latency: Partial<TurnLatency> | undefined,
    times: { timestamp: Date; startedAt: Date | undefined },
  ): Promise<number> {
    await untilAnswered(clock, async () => {
      const message = { ...by, content, ...times, latency };
      await conversations.appendTranscript(once(AppendTranscriptRequest.fromPartial({ ...key, sequence, message })));
    });
    return sequence;
  }

  return {
    append: (role, text, latency, startedAt = null) => {
      if (text === "") return;
      // Messages may wait for minutes while the service is down.
      const times = { timestamp: time.now(), startedAt: dateOf(startedAt, { clock, time }) };
      const byOperator = role === "operator";
      const said = byOperator ? ROLES.assistant : ROLES[role];
      enqueue((sequence) => append(sequence, { role: said, byOperator }, text, latency, times));
    },
    ask: (text, events, startedAt = null) => {
      const said = { text, saidAt: time.now(), startedAt: dateOf(startedAt, { clock, time }) };
      const answer = openAnswer(options, said, events);
      enqueue(answer.run);
      return answer;
    },
    askResults: (events, told) => {
      const said = { text: "", saidAt: time.now(), startedAt: undefined, answersResults: true, told };
      const answer = openAnswer(options, said, events);
      enqueue(answer.run);
      return answer;
    },
    ended: async (toolCallIds, signal) => {
      const origin = { requestId: key.conversationId, signal };
      const { promise: left, resolve: leave } = Promise.withResolvers<{ ended: string[] }>();
      signal.addEventListener("abort", () => leave(NONE), { once: true });
      const wait = async () => {
        if (signal.aborted) return NONE;
        return conversations.waitForToolCalls(
          { ...key, toolCallIds: [...toolCallIds] },
          { origin, timeoutMs: WAIT_MS },
        );
      };
      for (;;) {
        try {
          const { ended } = await Promise.race([untilAnswered(clock, wait), left]);
          if (ended.length > 0 || signal.aborted) return ended;
        } catch {
          return toolCallIds;
        }
      }
    },
    settled: () => queue,
  };
}

interface AnswerOptions extends Pick<TranscriptOptions, "conversations" | "key" | "clock" | "time" | "tools"> {}

type Final = { text: string; latency: Partial<TurnLatency>; startedAt: Date | undefined; fillers: string[] };

interface Question {
  text: string;
  saidAt: Date;
  startedAt: Date | undefined;
  answersResults?: boolean;
  told?: string | undefined;
}

/** A moment of the call's clock on the clock that all processes share. */
export function dateOf(
  at: number | null,
  { clock, time }: Pick<TranscriptOptions, "clock" | "time">,
): Date | undefined {
  return at === null ? undefined : new Date(time.now().getTime() - (clock.now() - at));
}

/** Runs one turn: asks the model, again if the stream breaks before the first word, and stays until what was heard is stored. */
function openAnswer({ conversations, key, clock, time, tools }: AnswerOptions, said: Question, events: AnswerEvents) {
  const reports = pushable<ConverseRequest>();
  let final: Final | null = null;
  const finalGiven = Promise.withResolvers<void>();
  let hasWords = false;
  let isComplete = false;
  let isAsked = false;
  let isPatient = true;
  // This counts even while the previous answer cannot be stored.
  const stopWaiting = clock.after(PATIENCE_MS, () => {
    isPatient = false;
    if (!isAsked && !hasWords) tell(events.delayed);
  });

  const tell = (work: () => void) => {
    if (!final) work();
  };

  /** Returns the last sequence. @throws what the stream fails with */
  async function attempt(sequence: number): Promise<number> {
    const turn = { ...key, sequence, ...said, ...tools() };
    const heard = final ? { ...final, isFinal: true } : undefined;
    reports.restart([ConverseRequest.fromPartial({ turn, heard: heard as never })]);
    for await (const { event } of conversations.converse(reports.items())) {
      if (event?.$case === "stored") return event.value.lastSequence;
      if (event?.$case === "clientCall") events.clientCall(event.value);
      else if (event?.$case === "toolStarted" && final) events.toolLeft(event.value);
      else if (event) tell(() => take(event));
    }
    throw new ServiceError("unavailable", "The stream of a turn ended early");
  }

  function take(event: { $case: string; value: unknown }): void {
    if (event.$case === "text") {
      hasWords = true;
      events.text(event.value as string);
    } else if (event.$case === "action") {
      const { action } = event.value as CallAction;
      if (action) events.action(action);
    } else if (event.$case === "toolStarted") {
      events.toolStarted(event.value as ToolStarted);
    } else if (event.$case === "toolEnded") {
      events.toolEnded((event.value as ToolEnded).toolCallId);
    } else if (event.$case === "toolNews") {
      events.toolNews(event.value as ToolNews);
    } else if (event.$case === "complete") {
      complete();
    }
  }

  function complete(): void {
    if (isComplete) return;
    isComplete = true;
    events.complete();
  }

  async function run(sequence: number): Promise<number> {
    try {
      for (let tries = 0; ; tries++) {
        try {
          isAsked = true;
          return await attempt(sequence);
        } catch (error) {
          const failure = asServiceError(error);
          const delayMs = DELAYS_MS[tries];
          if (REFUSALS.has(failure.kind) || delayMs === undefined) throw failure;
          const isAway = MAY_PASS.has(failure.kind);
          if (hasWords) tell(complete);
          else if (!isAway) tell(() => events.failed(failure));
          else if (!isPatient) tell(events.delayed);
          isAsked = false;
          // Nothing more will come; only what is heard remains to be stored.
          if (hasWords || !isAway) await finalGiven.promise;
          await pause(clock, delayMs, final ? null : finalGiven.promise);
        }
      }
    } finally {
      stopWaiting();
    }
  }

  return {
    run,
    hear: (heard: string) => {
      if (!final) reports.push(ConverseRequest.fromPartial({ heard: { text: heard } }));
    },
    settle: (heard: string, latency: Partial<TurnLatency>, startedAt: number | null, fillers: readonly string[]) => {
      if (final) return;
      final = { text: heard, latency, startedAt: dateOf(startedAt, { clock, time }), fillers: [...fillers] };
      reports.push(ConverseRequest.fromPartial({ heard: { ...final, isFinal: true } }));
      finalGiven.resolve();
    },
  };
}

/** Kinds of errors that mean that a service, or something it needs, is unavailable for a while. */
export const MAY_PASS = new Set<ServiceError["kind"]>(["unavailable", "deadline", "cancelled"]);
/** Whether it has refused permanently. */
const REFUSALS = new Set<ServiceError["kind"]>(["not_found", "forbidden", "condition", "invalid", "unauthenticated"]);

/**
 * Does the work again while a service or the database is down.
 * @param withinMs begins no further try after this; about two minutes without it
 * @throws what it fails with otherwise
 */
export async function untilAnswered<T>(
  clock: PassingTime,
  work: () => Promise<T>,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const until = clock.now() + withinMs;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = DELAYS_MS[tries];
      const mayHelp = MAY_PASS.has(asServiceError(error).kind) && delayMs !== undefined;
      if (!mayHelp || clock.now() + delayMs > until) throw error;
      await pause(clock, delayMs, null);
    }
  }
}

function pause(clock: PassingTime, ms: number, or: Promise<void> | null): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(ms, resolve);
    or?.then(() => {
      stop();
      resolve();
    });
  });
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/** Items for a stream that is opened again: a new one begins with what it is given, and what was pushed before is gone. */
function pushable<T>() {
  let waiting: T[] = [];
  let news = Promise.withResolvers<void>();
  let streams = 0;
  return {
    restart: (items: T[]) => {
      waiting = items;
      streams++;
      news.resolve();
    },
    push: (item: T) => {
      waiting.push(item);
      news.resolve();
    },
    async *items(): AsyncGenerator<T> {
      const stream = streams;
      while (stream === streams) {
        const items = waiting;
        waiting = [];
        yield* items;
        if (waiting.length > 0) continue;
        news = Promise.withResolvers();
        await news.promise;
      }
    },
  };
}

export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isUnreachableDatabase(error)) return databaseUnreachable(error);
  return new ServiceError("internal", "An unexpected error", { cause: error });
}
