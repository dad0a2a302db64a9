import type { Database, Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { FewAtOnceSettings } from "@parley/shared/shares/few-at-once";
import type { AgentContext } from "../context.ts";
import { type ClaimKey, extendClaim, type HeldClaim, keepClaim, releaseClaim, takeClaim } from "../store/claims.ts";

export type { HeldClaim };

/** How long a process that died blocks others; a live one extends its claims three times as often. */
const HELD_MS = 5_000;
/** Pauses between checks of a claim that another process holds; the last one repeats. */
const LOOK_MS: readonly number[] = [10, 20, 40, 80, 160];

/**
 * Requests for one claim in one process: all but the first wait here, so that they do not query the database again and
 * again.
 */
export const CLAIM_AT_ONCE: FewAtOnceSettings = { what: "changes of one agent", atOnce: 1, waitingMax: 1_000 };

/**
 * Does work that calls other services while nobody else, in this process or another, does work under the same claim.
 * Holds no connection and no transaction, so the work must protect its writes with `requireClaim`.
 * @param gone fires when nobody waits anymore
 * @throws what the work throws, and the abort reason when `gone` fires before the work begins
 */
export function withClaim<T>(
  { db, claimOneAtOnce }: Pick<AgentContext, "db" | "claimOneAtOnce">,
  key: ClaimKey,
  gone: AbortSignal,
  work: (held: HeldClaim) => Promise<T>,
): Promise<T> {
  return claimOneAtOnce(`${key.ownerId} ${key.claim}`, gone, async () => {
    const held = await take(db, key, gone);
    // The next beat makes up for a lost one.
    const beat = setInterval(() => extendClaim(db, held, HELD_MS).catch(() => {}), HELD_MS / 3);
    try {
      return await work(held);
    } finally {
      clearInterval(beat);
      // A claim that is left behind expires by itself.
      await releaseClaim(db, held).catch(() => {});
    }
  });
}

/**
 * For the transaction that ends the work: it writes only while the claim is held, so not after a pause during which
 * another process took over.
 * @throws ServiceError unavailable when the claim is lost
 */
export async function requireClaim(tx: Sql, held: HeldClaim): Promise<void> {
  if (await keepClaim(tx, held)) return;
  throw new ServiceError("unavailable", "The change took too long. Try again.", { retryAfterMs: 1_000 });
}

async function take(db: Database, key: ClaimKey, gone: AbortSignal): Promise<HeldClaim> {
  for (let looks = 0; ; looks++) {
    const held = await takeClaim(db, key, HELD_MS);
    if (held) return held;
    await Bun.sleep(LOOK_MS[looks] ?? LOOK_MS.at(-1) ?? 0);
    gone.throwIfAborted();
  }
}
