import { notFound } from "@parley/shared/errors";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { deleteDoNotCall } from "../store/do-not-call.ts";

export function removeDoNotCall(ctx: OutboundContext): Handler<"removeDoNotCall"> {
  return async ({ ownerId, mobileNumber }) => {
    if (!(await deleteDoNotCall(ctx.db, ownerId, mobileNumber))) throw notFound("Number on the do-not-call list");
    return {};
  };
}
