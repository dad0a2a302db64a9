import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import type { Asked, Hear, Model, ModelEnd, ModelRequest, ToolCall } from "../model/port.ts";
import type { ModelWatch } from "../model/watch.ts";
import { farewellOf } from "../tools/builtin/end-call.ts";
import { callTool } from "../tools/call-tool.ts";
import { toolboxOf } from "../tools/toolbox.ts";
import type { AcceptedTurn, PreparedTurn } from "./accept-turn.ts";
import { type Channel, modelRequest } from "./ask/model-request.ts";
import { type Reply, type Speaking, speak } from "./reply/speak.ts";
import { outOfTurnMemory, roomFor, type TurnMemory } from "./turn-memory.ts";

export interface Answering extends PreparedTurn, Pick<Speaking, "say" | "act"> {
  accepted: AcceptedTurn;
  /** What the user said. */
  message: string;
  channel: Channel;
  asked: Asked;
  memory: TurnMemory;
  watch: ModelWatch;
  log: Logger;
}

/**
 * Asks the model of an accepted turn and speaks its reply, in chats and calls alike.
 * @param reply grows with what the model says
 * @throws ServiceError condition when the prompt is too long, rate_limited when the owner's turns have no memory left, and what the
 * model fails with
 */
export async function answer(
  ctx: ConversationContext,
  reply: Reply,
  { agent, model, accepted, message, channel, asked, memory, watch, log, say, act }: Answering,
): Promise<void> {
  const toolbox = toolboxOf(agent, channel.name, ctx.toolSources);
  const request = await modelRequest(ctx, agent, accepted, message, toolbox, channel);
  const hasRoom = roomFor(memory, request);
  if (!hasRoom(0)) throw outOfTurnMemory();
  const received = (bytes: number) => {
    if (!hasRoom(reply.text.length, bytes)) watch.fail(outOfTurnMemory());
  };
  const meter = { ownerId: accepted.ownerId, received };
  const ask = (round: ModelRequest, hear: Hear) => askModel(model, { ...round, meter }, asked, watch.signal, hear);
  const { clock, limits } = ctx;
  const { ownerId, conversationId, variables } = accepted;
  const place = { ownerId, conversationId, channel: channel.name, variables, signal: watch.signal, clock, log };
  const run = (call: ToolCall) => callTool(call, toolbox, place);
  const farewell = (calls: readonly ToolCall[]) => farewellOf(calls, agent.tools);
  const speaking = { ask, request, run, farewell, watch, hasRoom, say };
  await speak(reply, { ...speaking, limits: limits.model, ...(act && { act }) });
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
