import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import type { Model, ModelReply, ModelRequest } from "../model/port.ts";
import { watchModel } from "../model/watch.ts";
import { outOfTurnMemory, roomFor, takeTurnMemory } from "./turn-memory.ts";

/**
 * Asks a model once for a whole answer, in the owner's share of memory, while its caller waits.
 * @param prepare makes the request in that share
 * @throws ServiceError rate_limited when the owner's turns have no memory left, and what the model fails with
 */
export async function askOnce(
  ctx: Pick<ConversationContext, "limits" | "turns" | "turnShares">,
  { ownerId, model, signal }: { ownerId: string; model: Model } & Pick<Call, "signal">,
  prepare: () => ModelRequest | Promise<ModelRequest>,
): Promise<ModelReply> {
  const { limits, turns, turnShares } = ctx;
  const memory = await takeTurnMemory(turnShares, ownerId);
  const leaving = { clientGone: signal, cutOff: turns.cutOff };
  const watch = watchModel(() => model.provider, limits.model, leaving);
  try {
    const request = await prepare();
    const hasRoom = roomFor(memory, request);
    if (!hasRoom(0)) throw outOfTurnMemory();
    const received = (bytes: number) => {
      if (!hasRoom(0, bytes)) watch.fail(outOfTurnMemory());
    };
    const asked = { ...request, meter: { ownerId, received }, firstWordMs: limits.model.deadlineMs };
    return await model.complete(asked, watch.signal);
  } finally {
    watch.done();
    memory.release();
  }
}
