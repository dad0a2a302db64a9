import { refuseWrongNumbers } from "../batches/new-batch.ts";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";

export function checkCallNumbers(ctx: Pick<OutboundContext, "deniedPrefixes">): Handler<"checkCallNumbers"> {
  return async ({ toMobileNumbers }) => {
    await refuseWrongNumbers(ctx, toMobileNumbers);
    return {};
  };
}
