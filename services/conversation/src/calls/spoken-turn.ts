import type { ConverseRequest, SpokenTurn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { cancelled, invalid, ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { watchModel } from "../model/watch.ts";
import { keptOf } from "../store/agent-path.ts";
import type { ConversationRow } from "../store/conversations.ts";
import { type Decided, finishSpokenTurn, releaseSpokenTurn } from "../store/turns/spoken-turns.ts";
import { untilStored } from "../store/until-stored.ts";
import type { ClientCall } from "../tools/client-calls.ts";
import { type ToolEvent, tellerOf } from "../tools/telling.ts";
import type { CallAction, ToolRules } from "../tools/tool.ts";
import type { CallWatch } from "../tools/turn-tools.ts";
import type { AcceptedTurn } from "../turn/accept-turn.ts";
import { answer } from "../turn/answer.ts";
import type { Channel } from "../turn/ask/model-request.ts";
import type { PreparedTurn } from "../turn/prepare-turn.ts";
import { closedTurn } from "../turn/reply/closed-turn.ts";
import { noteModelFailure } from "../turn/reply/note-failure.ts";
import { emptyReply, type Reply } from "../turn/reply/reply.ts";
import { checkpointReply } from "../turn/reply/reply-checkpoints.ts";
import { replySoFar } from "../turn/reply/store-reply.ts";
import { keepTurn } from "../turn/running-turns.ts";
import { type TurnMemory, takeTurnMemory } from "../turn/turn-memory.ts";
import { acceptSpokenTurn } from "./accept-spoken-turn.ts";
import { fillerPlaces, withoutFillers } from "./fillers.ts";
import { type Heard, type Hearing, heardOf, hearReply, NOTHING_HEARD } from "./hearing.ts";
import { readCall } from "./read-call.ts";

export type SpokenTurnEvent =
  /** A piece of the reply; it ends at a word boundary. */
  | { type: "text"; text: string }
  | { type: "action"; action: CallAction }
  | { type: "tool_started"; toolCallId: string; name: string; rules: ToolRules }
  | { type: "tool_ended"; toolCallId: string }
  /** The runtime's client makes this call. */
  | { type: "client_call"; call: ClientCall }
  /** Only in a turn that tells of its tools. */
  | ToolEvent
  /** All words and actions have been sent. */
  | { type: "complete" }
  /** The last event. */
  | { type: "stored"; lastSequence: number };

type Tell = (event: SpokenTurnEvent) => void;

const channelOf = (type: ConversationRow["type"]): Channel => ({
  name: "call",
  isTelephone: type === "TELEPHONY",
  note: "This is a spoken conversation. Answer in short sentences, the way people speak, without lists, headings, links or other markup.",
});

/** The longest that a runtime may take to speak a whole reply. */
const HEARD_WITHIN_MS = 600_000;

/**
 * Runs one spoken turn: stores what the user said, asks the model, and stores what the runtime reports as heard. If the
 * stream breaks before the final report, what was heard so far is stored, and the runtime can repeat the turn.
 * @param first the request with the turn
 * @param further reports of what was heard
 * @throws ServiceError as acceptSpokenTurn does, not_found, forbidden and rate_limited; later, the model's errors
 */
export async function runSpokenTurn(
  ctx: ConversationContext,
  first: ConverseRequest,
  further: AsyncIterator<ConverseRequest>,
  call: Call,
  tell: Tell,
): Promise<void> {
  const { turn } = first;
  if (!turn) throw invalid("turn", "turn is required in the first message");
  const memory = await takeTurnMemory(ctx.turnShares, turn.ownerId);
  try {
    const heard = first.heard ? heardOf(first.heard) : null;
    const { prepared, taken } = await ctx.turnShares.alone(turn.ownerId, call.signal, () =>
      accept(ctx, turn, heard !== null, call.log),
    );
    if (taken.type === "stored") return tell({ type: "stored", lastSequence: taken.lastSequence });
    const { accepted } = taken;
    const lastSequence = prepared
      ? await askAndStore(ctx, turn, prepared, accepted, hearReply(further), call, memory, tell)
      : await store(ctx, { accepted, heard: heard ?? NOTHING_HEARD }, call.log);
    tell({ type: "stored", lastSequence });
  } finally {
    memory.release();
  }
}

/** Accepts the turn. `prepared` is null when the turn only has to be stored, without asking the model. */
async function accept(ctx: ConversationContext, turn: SpokenTurn, isOver: boolean, log: Logger) {
  const row = await readCall(ctx, turn);
  const prepared = isOver ? null : await prepare(ctx, row, log);
  return { prepared, taken: await acceptSpokenTurn(ctx, turn, row) };
}

interface PreparedCall extends PreparedTurn {
  channel: Channel;
}

async function prepare(ctx: ConversationContext, row: ConversationRow, log: Logger): Promise<PreparedCall> {
  const { ownerId, agentId, type } = row;
  const agent = await ctx.agents.get(ownerId, agentId, keptOf(row));
  return { agent, model: ctx.selectModel(ownerId, llmOf(agent), log), channel: channelOf(type) };
}

/** Asks the model, sends the reply and stores what was heard of it. Returns the last sequence. */
async function askAndStore(
  ctx: ConversationContext,
  turn: SpokenTurn,
  prepared: PreparedCall,
  accepted: AcceptedTurn,
  hearing: Hearing,
  call: Call,
  memory: TurnMemory,
  tell: Tell,
): Promise<number> {
  const reply = emptyReply(prepared.agent, prepared.model);
  const decided: Decided = { language: null, scheduledCall: null };
  const lease = keepTurn(ctx, accepted);
  const soFar = () => ({ ...replySoFar(reply), content: hearing.heard.text });
  const checkpoints = checkpointReply(ctx, accepted, soFar, call.log);
  const watch = watchModel(() => reply.by.provider, ctx.limits.model, {
    clientGone: call.signal,
    cutOff: ctx.turns.cutOff,
  });
  // May come before the model has finished, when the user interrupts.
  hearing.over.then(
    () => watch.fail(cancelled()),
    (error) => watch.fail(error),
  );
  try {
    const act = (action: CallAction) => {
      if (action.type === "set_language") decided.language = action.language;
      if (action.type === "schedule_call") decided.scheduledCall = action.call;
      tell({ type: "action", action });
    };
    const say = (text: string) => {
      tell({ type: "text", text });
      return null;
    };
    const asking = {
      accepted,
      message: turn.answersResults ? null : turn.text,
      told: turn.told ?? null,
      mode: "streamed" as const,
      memory,
      watch,
      log: call.log,
    };
    const calls: CallWatch = {
      began: (toolCallId, name, rules) => tell({ type: "tool_started", toolCallId, name, rules }),
      ended: (toolCallId) => tell({ type: "tool_ended", toolCallId }),
    };
    const take = (calls: readonly ClientCall[]) => {
      for (const call of calls) tell({ type: "client_call", call });
    };
    await answer(ctx, reply, {
      ...{ ...prepared, ...asking, say, act, calls },
      client: turn.clientTools ? { take, isAwaited: true } : undefined,
      teller: turn.tellsTools ? tellerOf(tell) : undefined,
    });
    tell({ type: "complete" });
    await heardOrLeft(ctx, hearing, call);
  } catch (error) {
    await noteModelFailure(ctx, accepted, error, call.log);
    if (!hearing.heard.isFinal) throw error;
  } finally {
    watch.done();
    checkpoints.stop();
    const ended = { accepted, heard: hearing.heard, decided, reply };
    await store(ctx, ended, call.log).finally(lease.stop);
  }
  return lastSequenceOf(accepted, hearing.heard);
}

/** Waits for the final report. @throws ServiceError when it will not come on this stream */
async function heardOrLeft(ctx: ConversationContext, { over }: Hearing, call: Call): Promise<void> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  left.catch(() => {});
  const leave = () => reject(cancelled());
  const stop = () => reject(new ServiceError("unavailable", "The service is stopping: continue in a new stream"));
  const late = setTimeout(
    () => reject(new ServiceError("deadline", "The whole reply was not reported as heard within ten minutes")),
    HEARD_WITHIN_MS,
  );
  const signals: [AbortSignal, () => void][] = [
    [call.signal, leave],
    [call.stopping, stop],
    [ctx.turns.cutOff, stop],
  ];
  for (const [signal, end] of signals) {
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
  }
  try {
    await Promise.race([over, left]);
  } finally {
    clearTimeout(late);
    for (const [signal, end] of signals) signal.removeEventListener("abort", end);
  }
}

interface EndedSpokenTurn {
  accepted: AcceptedTurn;
  heard: Heard;
  /** For a turn whose model was asked on this stream. */
  decided?: Decided;
  reply?: Reply;
}

const NOTHING_DECIDED: Decided = { language: null, scheduledCall: null };

/**
 * Stores what was heard and releases the turn; waits up to about 25 seconds for an unreachable database. Returns the
 * last sequence.
 */
async function store(ctx: ConversationContext, ended: EndedSpokenTurn, log: Logger): Promise<number> {
  const { accepted, heard, decided = NOTHING_DECIDED, reply } = ended;
  const since = (at: number | null) => (at === null || !reply ? null : Math.round(at - reply.startedAt));
  const partialReason = reply?.partialReason ?? null;
  const fillers = fillerPlaces(heard.text, heard.fillers);
  const ofModel = withoutFillers(heard.text, fillers);
  const isHeardToTheEnd = heard.isFinal && reply?.isWhole && spaced(ofModel).endsWith(spaced(reply.text));
  const isStored = await untilStored(log, () => {
    const now = ctx.clock.now();
    const toolCalls = reply?.toolCalls ?? [];
    if (heard.text === "") return releaseSpokenTurn(ctx.db, accepted, { ...decided, toolCalls }, now);
    const content = {
      content: heard.text,
      toolCalls,
      by: reply ? replySoFar(reply) : null,
      partial: partialReason !== null || !isHeardToTheEnd,
      partialReason,
      knowledge: reply?.knowledge ?? null,
      usage: heard.isFinal && reply ? reply.usage : { inputTokens: undefined, outputTokens: undefined },
      costUsdMicros: heard.isFinal && reply ? reply.costUsdMicros : null,
      firstWordMs: since(reply?.firstTextAt ?? null),
      totalMs: heard.isFinal ? (since(performance.now()) ?? 0) : null,
      latency: heard.latency,
      startedAt: heard.startedAt,
      fillers: fillers.length > 0 ? fillers : null,
    };
    return finishSpokenTurn(ctx.db, accepted, content, decided, now);
  });
  if (!isStored) {
    log.warn({ conversation_id: accepted.conversationId }, "what was heard arrived after its turn had closed");
    throw await closedTurn(ctx, accepted, { conversation: "conversation", unstored: "what was heard" });
  }
  return lastSequenceOf(accepted, heard);
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function lastSequenceOf({ seq, replySeq }: AcceptedTurn, { text }: Heard): number {
  return text === "" ? seq : replySeq;
}
