import type { AccountContext, Handler } from "../context.ts";
import { toSettings } from "../convert.ts";
import { checkRetentionDays } from "../settings/retention.ts";
import { promiseSettings, tellSettingsNow } from "../settings/tell-settings.ts";
import { checkTimezone } from "../settings/timezone.ts";
import { getSettingsRow, type SettingsRow, storeSettings } from "../store/settings.ts";

/** Fields left out stay unchanged. */
export function updateSettings(ctx: AccountContext): Handler<"updateSettings"> {
  return async ({ ownerId, retentionDays, timezone }, { log }) => {
    if (retentionDays !== undefined) checkRetentionDays(retentionDays);
    if (timezone) checkTimezone(timezone);
    const current = await getSettingsRow(ctx.db, ownerId);
    if (retentionDays === undefined && timezone === undefined) return { settings: toSettings(current) };
    const now = ctx.clock.now();
    const changed: Partial<SettingsRow> = {
      ...(retentionDays !== undefined && { retentionDays }),
      ...(timezone !== undefined && { timezone: timezone || null }),
    };
    const settings = await ctx.db.begin(async (tx) => {
      const stored = await storeSettings(tx, ownerId, changed, now);
      await promiseSettings(tx, ownerId, now);
      return stored;
    });
    await tellSettingsNow(ctx, ownerId, log);
    return { settings: toSettings(settings) };
  };
}
