import type { AccountContext, Handler } from "../context.ts";
import { checkRetentionDays, RETENTION_DAYS } from "../settings/retention.ts";
import { promiseRetention, tellRetentionNow } from "../settings/tell-retention.ts";
import { getSettingsRow, setRetentionDays } from "../store/settings.ts";

/** Fields left out stay unchanged. */
export function updateSettings(ctx: AccountContext): Handler<"updateSettings"> {
  return async ({ ownerId, retentionDays }, { log }) => {
    if (retentionDays !== undefined) checkRetentionDays(retentionDays);
    const current = await getSettingsRow(ctx.db, ownerId);
    if (retentionDays !== undefined) {
      const now = ctx.clock.now();
      await ctx.db.begin(async (tx) => {
        await setRetentionDays(tx, ownerId, retentionDays, now);
        await promiseRetention(tx, ownerId, now);
      });
      await tellRetentionNow(ctx, ownerId, log);
    }
    return { settings: { retentionDays: retentionDays ?? current.retentionDays ?? RETENTION_DAYS.default } };
  };
}
