import type { AccountContext, Handler } from "../context.ts";
import { checkRetentionDays, RETENTION_DAYS } from "../retention.ts";
import { getSettingsRow, setRetentionDays } from "../store/settings.ts";

/** What is not given stays. */
export function updateSettings(ctx: AccountContext): Handler<"updateSettings"> {
  return async ({ ownerId, retentionDays }) => {
    if (retentionDays !== undefined) checkRetentionDays(retentionDays);
    const current = await getSettingsRow(ctx.db, ownerId);
    if (retentionDays !== undefined) await setRetentionDays(ctx.db, ownerId, retentionDays, ctx.clock.now());
    return { settings: { retentionDays: retentionDays ?? current.retentionDays ?? RETENTION_DAYS.default } };
  };
}
