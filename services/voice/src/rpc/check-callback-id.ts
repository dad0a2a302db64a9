import { notFound } from "@parley/shared/errors";
import type { Handler } from "../feature.ts";

/** Whether a callback may name this id. @throws ServiceError not_found, rate_limited */
export type CallbackCheck = (id: string, gone: AbortSignal) => Promise<void>;

/** Tells whether a callback's id exists, before anyone reads its body. @param checks by provider */
export function checkCallbackId(checks: ReadonlyMap<string, CallbackCheck>): Handler<"checkCallbackId"> {
  return async ({ provider, id }, { signal }) => {
    const check = checks.get(provider);
    if (!check) throw notFound("Provider");
    await check(id, signal);
    return {};
  };
}
