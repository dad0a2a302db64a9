import type { AccountContext, Handler } from "../context.ts";

export function watchKeys(ctx: AccountContext): Handler<"watchKeys"> {
  return async function* (_request, { signal }) {
    for await (const keyId of ctx.keyChanges.watch(signal)) yield { keyId };
  };
}
