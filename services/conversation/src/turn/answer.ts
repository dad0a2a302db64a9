import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import type { Asked, Hear, Model, ModelEnd, ModelMessage, ModelRequest } from "../model/port.ts";
import type { ModelWatch } from "../model/watch.ts";
import { bothKnown, type ReplyKnowledge } from "../store/reply-knowledge.ts";
import { findTest } from "../store/turns/tests.ts";
import { farewellOf } from "../tools/builtin/end-call.ts";
import type { Client } from "../tools/client-calls.ts";
import type { ToolTeller } from "../tools/telling.ts";
import { testTools } from "../tools/test-tools.ts";
import type { CallAction, ToolOutcome } from "../tools/tool.ts";
import { type CallWatch, turnTools } from "../tools/turn-tools.ts";
import type { AcceptedTurn, PreparedTurn } from "./accept-turn.ts";
import { conversationSoFar } from "./ask/conversation-so-far.ts";
import { type Channel, modelRequest } from "./ask/model-request.ts";
import { turnHandoffs } from "./handoffs.ts";
import { closedTurn } from "./reply/closed-turn.ts";
import { type Reply, type Speaking, speak } from "./reply/speak.ts";
import { outOfTurnMemory, roomFor, type TurnMemory } from "./turn-memory.ts";

export interface Answering extends PreparedTurn, Pick<Speaking, "say"> {
  accepted: AcceptedTurn;
  /** What the user said; null in a turn that answers results of tools. */
  message: string | null;
  /** What else has happened, in words for the model. */
  told?: string | null;
  channel: Channel;
  asked: Asked;
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
export async function answer(
  ctx: ConversationContext,
  reply: Reply,
  {
    agent,
    model,
    accepted,
    message,
    told = null,
    channel,
    asked,
    memory,
    watch,
    log,
    say,
    act,
    calls,
    teller,
    client,
  }: Answering,
): Promise<void> {
  const { ownerId, conversationId, language, injected } = accepted;
  const { clock, limits, ledger } = ctx;
  let assigned = accepted.variables;
  const test = accepted.isTest ? await findTest(ctx.db, accepted) : null;
  const asking = { channel: channel.name, message, test: test && testTools(test) };
  const handoffs = await turnHandoffs(ctx, accepted, { agent, model }, asking, log);
  const { speaker } = handoffs;
  const filledWith = () => ({ ...assigned, ...speaker().system });
  const speaks = () => {
    const { agent, model, onPath, voiceVersion } = speaker();
    Object.assign(reply, { agent, by: { provider: model.provider, name: model.name } });
    const { agentId, voiceAgentId } = onPath;
    act?.({ type: "hand_over", agentId, voiceAgentId, voiceAgentVersion: voiceVersion });
  };
  const learn = (knowledge: ReplyKnowledge | null | undefined) => {
    if (knowledge) reply.knowledge = bothKnown(reply.knowledge, knowledge);
  };
  if (accepted.agentPath) speaks();
  learn(speaker().knowledge.record);
  const apply = (outcome: ToolOutcome) => {
    handoffs.apply(outcome);
    if (outcome.language !== undefined) reply.language = outcome.language;
    if (outcome.ends) reply.ends = true;
    if (outcome.mayBeSilent) reply.mayBeSilent = true;
    if (outcome.assignments) assigned = { ...assigned, ...outcome.assignments };
    if (outcome.action) act?.(outcome.action);
    learn(outcome.knowledge);
  };
  const tools = turnTools({
    ...{ ledger, turn: accepted, apply, watch: calls, signal: watch.signal, log },
    ...{ teller, client },
    toolbox: { find: (name, call) => speaker().toolbox.find(name, call) },
    place: () => ({
      ownerId,
      conversationId,
      channel: channel.name,
      isTelephone: channel.isTelephone,
      variables: filledWith(),
      clock,
      log,
    }),
    startedAt: reply.startedAt,
    kept: reply.toolCalls,
    closed: () => closedTurn(ctx, accepted, { conversation: "conversation", unstored: "its tools could be called" }),
  });
  const earlier = await conversationSoFar(ctx, accepted, message, told, tools);
  if (!earlier) return;
  const { contextTokens } = limits;
  const request = (said: readonly ModelMessage[]) => {
    const { agent, toolbox, onPath, knowledge } = speaker();
    const before = earlier(onPath.contextFrom, knowledge.found);
    const variables = filledWith();
    return modelRequest({
      agent,
      variables,
      language,
      channel,
      toolbox,
      knowledge: knowledge.prompt,
      injected,
      earlier: before,
      said,
      contextTokens,
    });
  };
  let hasRoom = roomFor(memory, request([]));
  if (!hasRoom(0)) throw outOfTurnMemory();
  const received = (bytes: number) => {
    if (!hasRoom(reply.text.length, bytes)) watch.fail(outOfTurnMemory());
  };
  const meter = { ownerId, received };
  const ask = (round: ModelRequest, hear: Hear) =>
    askModel(speaker().model, { ...round, meter }, asked, watch.signal, hear);
  const farewell = (made: Parameters<Speaking["farewell"]>[0]) => farewellOf(made, speaker().agent.tools);
  const handOver = () => {
    const handed = handoffs.take();
    const begin = () => {
      handed?.begin();
      speaks();
      learn(speaker().knowledge.record);
      hasRoom = roomFor(memory, request([]));
    };
    return handed && { ...handed, begin };
  };
  const speaking = {
    ask,
    request,
    tools,
    farewell,
    handOver,
    watch,
    limits: limits.model,
    roundsBefore: accepted.roundsBefore,
    say,
  };
  await speak(reply, { ...speaking, hasRoom: (characters) => hasRoom(characters) });
}

async function askModel(
  model: Model,
  request: ModelRequest,
  asked: Asked,
  signal: AbortSignal,
  hear: Hear,
): Promise<ModelEnd> {
  if (asked === "streamed") return model.stream(request, signal, hear);
  const { text, ...end } = await model.complete(request, signal);
  if (text !== "") await hear(text, end.by);
  return end;
}
