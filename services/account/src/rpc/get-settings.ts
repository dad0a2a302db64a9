import type { AccountContext, Handler } from "../context.ts";
import { toSettings } from "../convert.ts";
import { getSettingsRow } from "../store/settings.ts";

export function getSettings(ctx: AccountContext): Handler<"getSettings"> {
  return async ({ ownerId }) => ({ settings: toSettings(await getSettingsRow(ctx.db, ownerId)) });
}
