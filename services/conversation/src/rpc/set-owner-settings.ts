import { invalid } from "@parley/shared/errors";
import { isTimeZone } from "@parley/shared/text/time-zone";
import type { ConversationContext, Handler } from "../context.ts";
import { storeOwnerSettings } from "../store/retention.ts";

/** Once this returns, older conversations are hidden; the sweep deletes them (retention/retention.ts). */
export function setOwnerSettings(ctx: ConversationContext): Handler<"setOwnerSettings"> {
  return async ({ ownerId, retentionDays, timezone, revision }) => {
    if (retentionDays !== undefined && (retentionDays < 1 || retentionDays > 3650)) {
      throw invalid("retention_days", "retention_days must be from 1 to 3650");
    }
    if (timezone !== undefined && !isTimeZone(timezone))
      throw invalid("timezone", "timezone must be an IANA time zone");
    const settings = { retentionDays: retentionDays ?? null, timezone: timezone ?? null };
    await storeOwnerSettings(ctx.db, ownerId, settings, revision);
    return {};
  };
}
