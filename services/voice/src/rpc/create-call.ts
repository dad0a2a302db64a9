import { CreateCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { toCall } from "../outbound/convert.ts";
import { newCall, numberFault, queueCalls, untilTomorrow } from "../outbound/new-call.ts";
import { findListed } from "../store/do-not-call.ts";
import type { NewOutboundCall } from "../store/outbound-calls.ts";
import { getOutboundCall } from "./get-call.ts";

/** @throws ServiceError invalid for a number of another country; rate_limited if the owner's agents may call nobody more today */
async function requireAllowed(ctx: OutboundContext, { ownerId, toMobileNumber }: NewOutboundCall): Promise<void> {
  const { policies, clock } = ctx;
  if (!policies) return;
  const policy = await policies.of(ownerId);
  const fault = numberFault(ctx, toMobileNumber, policy);
  if (fault !== null) throw invalid("to_mobile_number", `to_mobile_number ${fault}`);
  const spent = await policies.spent(ownerId, policy);
  if (spent !== null) throw new ServiceError("rate_limited", spent, { retryAfterMs: untilTomorrow(clock.now()) });
}

export function createCall(ctx: OutboundContext): Handler<"createCall"> {
  return async ({ idempotency, ...asked }, call) =>
    runPrepared(
      ctx,
      { ownerId: asked.ownerId, idempotency, codec: CreateCallResponse, call },
      {
        prepare: async () => {
          if (await findListed(ctx.db, asked.ownerId, asked.toMobileNumber))
            throw invalid("to_mobile_number", `to_mobile_number ${asked.toMobileNumber} is on your do-not-call list`);
          const queued = await newCall(ctx, asked);
          await requireAllowed(ctx, queued);
          return queued;
        },
        write: async (tx, queued): Promise<CreateCallResponse> => {
          await queueCalls(tx, ctx, [queued]);
          return { call: toCall(await getOutboundCall(tx, queued)) };
        },
      },
    );
}
