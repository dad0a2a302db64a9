import type { Accept } from "../accept.ts";
import type { Handler } from "../context.ts";
import { readEvent } from "../rules.ts";

export function acceptEvent(accept: Accept): Handler<"acceptEvent"> {
  return async (given) => {
    await accept(readEvent(given));
    return {};
  };
}
