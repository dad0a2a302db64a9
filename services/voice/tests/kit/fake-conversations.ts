import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  type ClientCall,
  type ClientResult,
  type CompleteConversationRequest,
  type ConverseResponse,
  GetCallSetupResponse,
  type RunCallToolRequest,
  type SpokenTurn,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallReport } from "@parley/proto/parley/conversation/v1/live.ts";
import { nameOf, ROLES } from "@parley/shared/domain/api-names";
import { ServiceError } from "@parley/shared/errors";
import type { Conversations } from "../../src/call/transcript.ts";

type Event = NonNullable<ConverseResponse["event"]>;
type Script = (turn: SpokenTurn) => AsyncIterable<Event> | Iterable<Event>;

export interface FakeConversations extends Conversations {
  /** The messages that would be stored, as `role: text`. */
  lines: string[];
  /** The turns that were requested, in order. */
  asked: string[];
  script: Script;
  completed: CompleteConversationRequest[];
  /** What watchers were told. */
  reports: CallReport[];
  latencies: unknown[];
  /** When the messages began, by sequence less one. */
  starts: (Date | undefined)[];
  /** The tools that were run. */
  tools: RunCallToolRequest[];
  /** A tool that the client runs when it is called; null: there is none. */
  clientCall: ClientCall | null;
  /** What the client gave, as `id: result`. */
  given: string[];
  /** Called with each result. */
  gave(result: ClientResult): void;
  /** What was reported as said while tools ran, by reply. */
  fillers: string[][];
  /** What it had sent when the final report of a turn came. */
  late: Event[];
  /** Ends tool calls that run without a turn. */
  endTools(...toolCallIds: string[]): void;
  /** What the model answers when it is asked about the conversation. */
  model(instruction: string): string;
  /** Every call fails while it is set. */
  away: boolean;
}

export const words = (text: string): Event => ({ $case: "text", value: text });
export const complete: Event = { $case: "complete", value: {} };
export const says =
  (text: string): Script =>
  () => [words(text), complete];

/** A conversation service that keeps one conversation in memory, by the rules of docs/voice-runtimes.md. */
export function fakeConversations(setup: Partial<GetCallSetupResponse> = {}): FakeConversations {
  const lines: string[] = [];
  const set = (sequence: number, line: string) => {
    if (sequence > lines.length + 1) throw new ServiceError("condition", `Message ${lines.length + 1} is missing`);
    lines[sequence - 1] = line;
  };
  const endedTools = new Set<string>();
  let toolNews = Promise.withResolvers<void>();
  const check = () => {
    if (fake.away) throw new ServiceError("unavailable", "away");
  };
  const fake: FakeConversations = {
    lines,
    asked: [],
    script: says("We open at nine."),
    completed: [],
    reports: [],
    latencies: [],
    starts: [],
    tools: [],
    clientCall: null,
    given: [],
    gave: () => {},
    fillers: [],
    late: [],
    endTools: (...ids) => {
      for (const id of ids) endedTools.add(id);
      toolNews.resolve();
      toolNews = Promise.withResolvers();
    },
    model: () => "unclear",
    away: false,
    getCallSetup: async () => {
      check();
      const llm = { providerName: "CUSTOM_LLM", modelName: "m", params: undefined, fallbacks: [] };
      return { ...GetCallSetupResponse.fromPartial({}), llm, ...setup };
    },
    startConversation: async () => {
      check();
      return { conversation: undefined, lastSequence: 0 };
    },
    appendTranscript: async (requests) => {
      let lastSequence = 0;
      for await (const { sequence, message } of requests) {
        check();
        if (sequence > lines.length) {
          fake.starts[sequence - 1] = message?.startedAt;
          const who = message?.byOperator ? "operator" : nameOf(ROLES, message?.role ?? Role.ROLE_UNSPECIFIED);
          set(sequence, `${who}: ${message?.content}`);
        }
        lastSequence = sequence;
      }
      return { lastSequence };
    },
    converse: async function* (requests) {
      const incoming = requests[Symbol.asyncIterator]();
      const { value: first } = await incoming.next();
      check();
      const turn = first.turn as SpokenTurn;
      // A turn that answers results has no words of the user.
      const replySequence = turn.answersResults ? turn.sequence : turn.sequence + 1;
      if (!turn.answersResults) {
        set(turn.sequence, `user: ${turn.text}`);
        fake.starts[turn.sequence - 1] = turn.startedAt;
      }
      let heard = first.heard;
      const over = (async () => {
        while (!heard?.isFinal) {
          const { done, value } = await incoming.next();
          if (done) throw new ServiceError("cancelled", "left");
          heard = value.heard;
        }
      })();
      over.catch(() => {});
      if (!heard) {
        fake.asked.push(turn.answersResults ? "(results)" : turn.text);
        const events = (async function* () {
          yield* fake.script(turn);
        })();
        // A final report ends the reply, whatever its model waits for.
        for (;;) {
          const next = await Promise.race([events.next(), over.then(() => null)]);
          if (!next || next.done || heard?.isFinal) break;
          yield { event: next.value };
        }
      }
      await over;
      check();
      for (const event of fake.late.splice(0)) yield { event };
      if (heard?.text) {
        set(replySequence, `assistant: ${heard.text}`);
        fake.starts[replySequence - 1] = heard.startedAt;
      }
      if (heard && heard.fillers.length > 0) fake.fillers.push(heard.fillers);
      fake.latencies.push(heard?.latency);
      yield { event: { $case: "stored", value: { lastSequence: lines.length } } };
    },
    runCallTool: async (request) => {
      check();
      fake.tools.push(request);
      const action = request.name === "end_call" ? { action: { $case: "endCall" as const, value: {} } } : undefined;
      const clientCall = (request.clientTools && fake.clientCall) || undefined;
      return { result: clientCall ? "" : `did ${request.name}`, isError: false, action, clientCall };
    },
    giveClientResult: async ({ result: given }) => {
      check();
      const { toolCallId = "", result = "", isError = true } = given ?? {};
      fake.given.push(`${toolCallId}: ${result}${isError ? " (error)" : ""}`);
      if (given) fake.gave(given);
      return { result, isError, isTaken: true };
    },
    waitForToolCalls: async ({ toolCallIds }) => {
      for (;;) {
        const ended = toolCallIds.filter((id) => endedTools.has(id));
        if (ended.length > 0) return { ended };
        await toolNews.promise;
      }
    },
    reportCall: async ({ reports }) => {
      fake.reports.push(...reports);
      return { isUnwatched: false };
    },
    askModel: async ({ instruction }) => {
      check();
      return { text: fake.model(instruction) };
    },
    completeConversation: async (request) => {
      check();
      fake.completed.push(request);
      return { status: 2 };
    },
  };
  return fake;
}
