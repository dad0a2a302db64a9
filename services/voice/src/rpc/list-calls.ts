import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { statusesOf, toCall } from "../outbound/convert.ts";
import { listOutboundCalls } from "../store/outbound-calls.ts";

export function listCalls(ctx: OutboundContext): NonNullable<Handlers<typeof VoiceServiceService>["listCalls"]> {
  return async ({ page, statuses, ...filter }) => {
    const { calls, total } = await listOutboundCalls(
      ctx.db,
      { ...filter, statuses: statusesOf(statuses) },
      pageOf(page),
    );
    return { calls: calls.map(toCall), total };
  };
}
