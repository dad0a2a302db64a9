import { CreateCallResponse, type VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { invalid } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { toCall } from "../outbound/convert.ts";
import { newCall, queueCalls } from "../outbound/new-call.ts";
import { findListed } from "../store/do-not-call.ts";
import { getOutboundCall } from "./get-call.ts";

export function createCall(ctx: OutboundContext): NonNullable<Handlers<typeof VoiceServiceService>["createCall"]> {
  return async ({ idempotency, ...asked }, call) =>
    runPrepared(
      ctx,
      { ownerId: asked.ownerId, idempotency, codec: CreateCallResponse, call },
      {
        prepare: async () => {
          if (await findListed(ctx.db, asked.ownerId, asked.toMobileNumber))
            throw invalid("to_mobile_number", `to_mobile_number ${asked.toMobileNumber} is on your do-not-call list`);
          return newCall(ctx, asked);
        },
        write: async (tx, queued): Promise<CreateCallResponse> => {
          await queueCalls(tx, ctx, [queued]);
          return { call: toCall(await getOutboundCall(tx, queued)) };
        },
      },
    );
}
