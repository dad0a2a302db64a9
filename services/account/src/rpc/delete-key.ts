import { changeKey } from "../change-key.ts";
import type { AccountContext, Handler } from "../context.ts";
import { deleteKeyRow } from "../store/api-keys.ts";

export function deleteKey(ctx: AccountContext): Handler<"deleteKey"> {
  return async (request) => {
    await changeKey(ctx, request, deleteKeyRow);
    return {};
  };
}
