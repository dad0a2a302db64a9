import type { AccountContext, Handler } from "../context.ts";
import { changeKey } from "../keys/change-key.ts";
import { deleteKeyRow } from "../store/api-keys.ts";

export function deleteKey(ctx: AccountContext): Handler<"deleteKey"> {
  return async (request) => {
    await changeKey(ctx, request, deleteKeyRow);
    return {};
  };
}
