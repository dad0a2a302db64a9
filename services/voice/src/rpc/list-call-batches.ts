import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import { toCallBatch } from "../batches/convert.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { listBatches } from "../store/call-batches.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["listCallBatches"]>;

export function listCallBatches(ctx: OutboundContext): Handler {
  return async ({ ownerId, page }) => {
    const { batches, total } = await listBatches(ctx.db, ownerId, pageOf(page));
    return { batches: batches.map((batch) => toCallBatch(batch)), total };
  };
}
