import { CreateCallBatchResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { runPrepared } from "@parley/shared/idempotency/run";
import { newBatch, storeBatch } from "../batches/new-batch.ts";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { readBatch } from "./get-call-batch.ts";

export function createCallBatch(ctx: OutboundContext): Handler<"createCallBatch"> {
  return async (request, call) =>
    runPrepared(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: CreateCallBatchResponse, call },
      {
        prepare: () => newBatch(ctx, request),
        write: async (tx, created): Promise<CreateCallBatchResponse> => {
          await storeBatch(tx, created);
          return { batch: await readBatch(tx, created.batch) };
        },
      },
    );
}
