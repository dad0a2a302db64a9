import { invalid } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { AccountContext, Handler } from "../context.ts";
import { listRegistrars } from "../store/carriers.ts";

const PAGE = 100;

export function listTrunks(ctx: AccountContext): Handler<"listTrunks"> {
  return async ({ afterCarrierId }) => {
    if (afterCarrierId !== "" && !isId("car", afterCarrierId))
      throw invalid("after_carrier_id", "after_carrier_id must be the last carrier_id of the previous page");
    const rows = await listRegistrars(ctx.db, afterCarrierId, PAGE);
    return { carriers: rows.map((row) => ({ ...row, settings: undefined })) };
  };
}
