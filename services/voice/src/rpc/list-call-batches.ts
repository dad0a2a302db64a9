import { pageOf } from "@parley/shared/page";
import { toCallBatch } from "../batches/convert.ts";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { listBatches } from "../store/call-batches.ts";

export function listCallBatches(ctx: OutboundContext): Handler<"listCallBatches"> {
  return async ({ ownerId, page }) => {
    const { batches, total } = await listBatches(ctx.db, ownerId, pageOf(page));
    return { batches: batches.map((batch) => toCallBatch(batch)), total };
  };
}
