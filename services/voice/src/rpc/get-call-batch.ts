import type { CallBatch } from "@parley/proto/parley/voice/v1/call_batch.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { toCallBatch } from "../batches/convert.ts";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { type BatchKey, countBatchCalls, findBatch } from "../store/call-batches.ts";

export function getCallBatch(ctx: OutboundContext): Handler<"getCallBatch"> {
  return async (key) => ({ batch: await readBatch(ctx.db, key) });
}

/** With its counts. @throws ServiceError not_found */
export async function readBatch(sql: Sql, key: BatchKey): Promise<CallBatch> {
  const batch = isId("bat", key.batchId) ? await findBatch(sql, key) : null;
  if (!batch) throw notFound("Call batch");
  return toCallBatch(batch, await countBatchCalls(sql, key));
}
