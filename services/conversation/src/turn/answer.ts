import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import type { Hear, Model, ModelEnd, ModelMessage, ModelRequest, ReplyMode } from "../model/port.ts";
import type { ModelWatch } from "../model/watch.ts";
import { bothKnown, type ReplyKnowledge } from "../store/reply-knowledge.ts";
import { findTest } from "../store/turns/tests.ts";
import { farewellOf } from "../tools/builtin/end-call.ts";
import type { Client } from "../tools/client-calls.ts";
import type { ToolTeller } from "../tools/telling.ts";
import { testTools } from "../tools/test-tools.ts";
import type { CallAction, ToolOutcome } from "../tools/tool.ts";
import { type CallWatch, type TurnTools, turnTools } from "../tools/turn-tools.ts";
import type { AcceptedTurn } from "./accept-turn.ts";
import { conversationSoFar } from "./ask/conversation-so-far.ts";
import { type Channel, modelRequest } from "./ask/model-request.ts";
import { type Handoffs, turnHandoffs } from "./handoffs.ts";
import type { PreparedTurn } from "./prepare-turn.ts";
import { closedTurn } from "./reply/closed-turn.ts";
import type { Reply } from "./reply/reply.ts";
import { type Speaking, speak } from "./reply/speak.ts";
import { outOfTurnMemory, roomFor, type TurnMemory } from "./turn-memory.ts";

export interface Answering extends PreparedTurn, Pick<Speaking, "say"> {
  accepted: AcceptedTurn;
  /** What the user said; null in a turn that answers results of tools. */
  message: string | null;
  /** What else has happened, in words for the model. */
  told?: string | null;
  channel: Channel;
  mode: ReplyMode;
  memory: TurnMemory;
  watch: ModelWatch;
  log: Logger;
  /** Takes what the model decides to do. */
  act?(action: CallAction): void;
  calls?: CallWatch;
  teller?: ToolTeller | undefined;
  /** Makes calls of client tools; absent: they are not available. */
  client?: Client | undefined;
}

/**
 * Asks the model of an accepted turn and speaks its reply, in chats and calls alike.
 * @param reply grows with what the model says; stays empty if there is nothing to answer
 * @throws ServiceError condition when the prompt is too long, rate_limited when the owner's turns have no memory left, conflict when
 * the turn was over before a tool was called, and what the model fails with
 */
export async function answer(ctx: ConversationContext, reply: Reply, answering: Answering): Promise<void> {
  const { agent, model, accepted, message, told = null, channel, mode, memory, watch, log, say } = answering;
  const { ownerId, language, injected, roundsBefore } = accepted;
  const { contextTokens, model: limits } = ctx.limits;
  const test = accepted.isTest ? await findTest(ctx.db, accepted) : null;
  const asking = { channel: channel.name, message, test: test && testTools(test) };
  const handoffs = await turnHandoffs(ctx, accepted, { agent, model }, asking, log);
  const { speaker } = handoffs;
  const changes = replyChanges(reply, answering, handoffs);
  const tools = toolsOf(ctx, reply, answering, handoffs, changes);
  const earlier = await conversationSoFar(ctx, accepted, message, told, tools);
  if (!earlier) return;
  const request = (said: readonly ModelMessage[]) => {
    const { agent, toolbox, onPath, knowledge } = speaker();
    return modelRequest({
      ...{ agent, variables: changes.variables(), language, channel, toolbox, knowledge: knowledge.prompt, injected },
      ...{ earlier: earlier(onPath.contextFrom, knowledge.found), said, contextTokens },
    });
  };
  let hasRoom = roomFor(memory, request([]));
  if (!hasRoom(0)) throw outOfTurnMemory();
  const received = (bytes: number) => {
    if (!hasRoom(reply.text.length, bytes)) watch.fail(outOfTurnMemory());
  };
  const meter = { ownerId, received };
  const handOver = () => {
    const handed = handoffs.take();
    const begin = () => {
      handed?.begin();
      changes.speakerChanged();
      hasRoom = roomFor(memory, request([]));
    };
    return handed && { ...handed, begin };
  };
  await speak(reply, {
    ask: (round, hear) => askModel(speaker().model, { ...round, meter }, mode, watch.signal, hear),
    ...{ request, tools, handOver, watch, limits, roundsBefore, say },
    farewell: (made) => farewellOf(made, speaker().agent.tools),
    hasRoom: (characters) => hasRoom(characters),
  });
}

/** What a turn changes in its reply while it is made. */
interface ReplyChanges {
  /** What the speaker's texts and tools are filled with. */
  variables(): Readonly<Record<string, VariableValue>>;
  /** Another agent answers from now on. */
  speakerChanged(): void;
  /** Takes what a tool has decided. */
  apply(outcome: ToolOutcome): void;
}

/** Notes in the reply who speaks first, if the conversation was handed over before, and what the speaker knows. */
function replyChanges(reply: Reply, { accepted, act }: Answering, { speaker, apply }: Handoffs): ReplyChanges {
  let assigned = accepted.variables;
  const learn = (knowledge: ReplyKnowledge | null | undefined) => {
    if (knowledge) reply.knowledge = bothKnown(reply.knowledge, knowledge);
  };
  const speaks = () => {
    const { agent, model, onPath, voiceVersion } = speaker();
    Object.assign(reply, { agent, by: { provider: model.provider, name: model.name } });
    const { agentId, voiceAgentId } = onPath;
    act?.({ type: "hand_over", agentId, voiceAgentId, voiceAgentVersion: voiceVersion });
  };
  if (accepted.agentPath) speaks();
  learn(speaker().knowledge.record);
  return {
    variables: () => ({ ...assigned, ...speaker().system }),
    speakerChanged: () => {
      speaks();
      learn(speaker().knowledge.record);
    },
    apply: (outcome) => {
      apply(outcome);
      if (outcome.language !== undefined) reply.language = outcome.language;
      if (outcome.ends) reply.ends = true;
      if (outcome.mayBeSilent) reply.mayBeSilent = true;
      if (outcome.assignments) assigned = { ...assigned, ...outcome.assignments };
      if (outcome.action) act?.(outcome.action);
      learn(outcome.knowledge);
    },
  };
}

function toolsOf(
  ctx: ConversationContext,
  reply: Reply,
  { accepted, channel, watch, log, calls, teller, client }: Answering,
  { speaker }: Handoffs,
  { variables, apply }: ReplyChanges,
): TurnTools {
  const { ownerId, conversationId } = accepted;
  const { clock, ledger } = ctx;
  const place = { ownerId, conversationId, channel: channel.name, isTelephone: channel.isTelephone, clock, log };
  return turnTools({
    ...{ ledger, turn: accepted, apply, watch: calls, signal: watch.signal, log, teller, client },
    toolbox: { find: (name, call) => speaker().toolbox.find(name, call) },
    place: () => ({ ...place, variables: variables() }),
    startedAt: reply.startedAt,
    kept: reply.toolCalls,
    closed: () => closedTurn(ctx, accepted, { conversation: "conversation", unstored: "its tools could be called" }),
  });
}

async function askModel(
  model: Model,
  request: ModelRequest,
  mode: ReplyMode,
  signal: AbortSignal,
  hear: Hear,
): Promise<ModelEnd> {
  if (mode === "streamed") return model.stream(request, signal, hear);
  const { text, ...end } = await model.complete(request, signal);
  if (text !== "") await hear(text, end.by);
  return end;
}
