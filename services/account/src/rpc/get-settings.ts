import type { AccountContext, Handler } from "../context.ts";
import { RETENTION_DAYS } from "../settings/retention.ts";
import { getSettingsRow } from "../store/settings.ts";

export function getSettings(ctx: AccountContext): Handler<"getSettings"> {
  return async ({ ownerId }) => {
    const { retentionDays } = await getSettingsRow(ctx.db, ownerId);
    return { settings: { retentionDays: retentionDays ?? RETENTION_DAYS.default } };
  };
}
