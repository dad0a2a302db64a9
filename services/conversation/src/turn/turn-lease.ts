import type { ConversationContext } from "../context.ts";
import type { OpenTurn } from "../store/turns/take-turns.ts";

/**
 * Renews the turn's lease while the turn runs. If this process dies, the session is free again when the lease ends.
 * The process does not end before it is stopped.
 */
export function keepTurn(ctx: ConversationContext, turn: OpenTurn): { stop(): void } {
  const { turnLeaseMs } = ctx.limits;
  const end = ctx.turns.begin();
  const beat = setInterval(() => {
    const until = new Date(ctx.clock.now().getTime() + turnLeaseMs);
    // The lease lasts three beats, so the next one makes up for a lost one.
    ctx.turnStore.extendTurn({ ...turn, until }).catch(() => {});
  }, turnLeaseMs / 3);
  return {
    stop: () => {
      clearInterval(beat);
      end();
    },
  };
}
