import { CreateCallBatchResponse, type VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import { newBatch, storeBatch } from "../batches/new-batch.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { readBatch } from "./get-call-batch.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["createCallBatch"]>;

export function createCallBatch(ctx: OutboundContext): Handler {
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
