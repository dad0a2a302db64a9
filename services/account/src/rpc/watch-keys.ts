import type { AccountContext, Handler } from "../context.ts";

/** Well within the age at which a server breaks connections off, so that a watcher meets an end and no fault. */
const WATCH_MS = 240_000;

export function watchKeys(ctx: AccountContext): Handler<"watchKeys"> {
  return (_request, { signal }) => ctx.keyChanges.watch(AbortSignal.any([signal, AbortSignal.timeout(WATCH_MS)]));
}
