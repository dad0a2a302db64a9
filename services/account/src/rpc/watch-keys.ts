import type { AccountContext, Handler } from "../context.ts";

export function watchKeys(ctx: AccountContext): Handler<"watchKeys"> {
  return (_request, { signal }) => ctx.keyChanges.watch(signal);
}
