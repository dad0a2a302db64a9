import { pageOf } from "@parley/shared/page";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { statusesOf, toCall } from "../outbound/convert.ts";
import { listOutboundCalls } from "../store/outbound-calls.ts";

export function listCalls(ctx: OutboundContext): Handler<"listCalls"> {
  return async ({ page, statuses, ...filter }) => {
    const { calls, total } = await listOutboundCalls(
      ctx.db,
      { ...filter, statuses: statusesOf(statuses) },
      pageOf(page),
    );
    return { calls: calls.map(toCall), total };
  };
}
