import type { ConversationContext } from "../context.ts";
import { extendTurn, type OpenTurn } from "../store/turns.ts";

/**
 * Shows, as long as the turn runs, that it lives: should this process die, the session is free again when the lease ends.
 * Until it is stopped, this process does not end by itself.
 */
export function keepTurn(ctx: ConversationContext, turn: OpenTurn): { stop(): void } {
  const { turnLeaseMs } = ctx.limits;
  const end = ctx.turns.begin();
  const beat = setInterval(() => {
    const until = new Date(ctx.clock.now().getTime() + turnLeaseMs);
    // A beat that is lost is made up for by the next: the lease is three beats long.
    extendTurn(ctx.db, turn, until).catch(() => {});
  }, turnLeaseMs / 3);
  return {
    stop: () => {
      clearInterval(beat);
      end();
    },
  };
}
