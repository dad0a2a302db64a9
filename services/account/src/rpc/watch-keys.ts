import type { AccountContext, Handler } from "../context.ts";

/** So that gateways come to watch at new replicas too. */
const WATCH_MS = 240_000;

export function watchKeys(ctx: AccountContext): Handler<"watchKeys"> {
  return (_request, { signal }) => ctx.keyChanges.watch(AbortSignal.any([signal, AbortSignal.timeout(WATCH_MS)]));
}
