import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { detached } from "./detached.ts";
import { acceptKeyedTurn } from "./keyed-turn.ts";
import { acceptTurn } from "./open-session.ts";
import { prepareTurn, type ReadyTurn, runTurn } from "./turn.ts";
import { type TurnMemory, takeTurnMemory } from "./turn-memory.ts";

/**
 * Accepts a user message and gives the turn to run. With an idempotency key the turn runs to its end even when its client goes
 * away, for that is what the key is for (decisions.md: Idempotency-Key).
 * @throws ServiceError not_found, forbidden, condition, conflict, invalid or rate_limited; then nothing of it is stored
 */
export async function startTurn(ctx: ConversationContext, turn: Turn, call: Call): Promise<ReadyTurn> {
  const memory = await takeTurnMemory(ctx.turnShares, turn.ownerId, call);
  const letGo = memory.keep();
  try {
    return await acceptedTurn(ctx, turn, call, memory);
  } finally {
    letGo();
  }
}

async function acceptedTurn(ctx: ConversationContext, turn: Turn, call: Call, memory: TurnMemory): Promise<ReadyTurn> {
  if (!turn.idempotency) {
    const { accepting } = ctx.turnShares;
    const share = accepting.tryHold(turn.ownerId, 1) ?? (await accepting.hold(turn.ownerId, 1, call.signal));
    try {
      const prepared = await prepareTurn(ctx, turn, call);
      return runTurn(ctx, turn, prepared, await acceptTurn(ctx, turn), call, memory);
    } finally {
      share.release();
    }
  }
  const keyed = await acceptKeyedTurn(ctx, turn, turn.idempotency, call);
  if (keyed.type === "replay") return replayedTurn(keyed);
  const staying: Call = { ...call, signal: new AbortController().signal };
  const running = runTurn(ctx, turn, keyed.prepared, keyed.accepted, staying, memory);
  return {
    sessionId: running.sessionId,
    replayed: false,
    stream: () => detached(running.stream(), call.log),
    complete: () => running.complete(),
  };
}

function replayedTurn({ sessionId, text }: { sessionId: string; text: string }): ReadyTurn {
  return {
    sessionId,
    replayed: true,
    async *stream() {
      yield { type: "started", sessionId };
      if (text !== "") yield { type: "text", text };
    },
    complete: async () => text,
  };
}
