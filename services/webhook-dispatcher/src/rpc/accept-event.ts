import type { Accept } from "../accept.ts";
import type { AcceptWithin } from "../accept-bounds.ts";
import type { Handler } from "../context.ts";
import { readEvent } from "../rules.ts";

export function acceptEvent(accept: Accept, within: AcceptWithin): Handler<"acceptEvent"> {
  return async (given) => {
    const event = readEvent(given);
    await within([given], () => accept(event));
    return {};
  };
}
