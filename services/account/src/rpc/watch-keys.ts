import type { AccountContext, Handler } from "../context.ts";

/** Ends streams after this time so that gateways spread to new replicas. */
const WATCH_MS = 240_000;

export function watchKeys(ctx: AccountContext): Handler<"watchKeys"> {
  return (_request, { signal }) => ctx.keyChanges.watch(AbortSignal.any([signal, AbortSignal.timeout(WATCH_MS)]));
}
