import { oldRows } from "@parley/shared/jobs/old-rows";
import type { VoiceFeature } from "../feature.ts";
import type { CallbackCheck } from "../rpc/check-callback-id.ts";
import { createDailySession } from "../rpc/daily/create-session.ts";
import { handleDailyWebhook } from "../rpc/daily/handle-webhook.ts";
import { OLD_SESSIONS } from "../store/daily-sessions.ts";
import { type DailyContext, QUEUES } from "./context.ts";
import { checkConnection } from "./handle-webhook.ts";
import { lookAfterSessions } from "./look-after-sessions.ts";
import { subscribe } from "./subscribe.ts";

/** Sessions in Daily rooms: their RPCs and the work in the background. */
export function dailySessions(ctx: DailyContext) {
  const check: CallbackCheck = (connection, gone) => checkConnection(ctx, connection, gone);
  return {
    handlers: {
      createDailySession: createDailySession(ctx),
      handleDailyWebhook: handleDailyWebhook(ctx),
    },
    queues: {
      [QUEUES.session]: lookAfterSessions(ctx),
      [QUEUES.webhook]: subscribe(ctx),
    },
    sweeps: [oldRows(ctx.db, "delete-ended-daily-sessions", 60_000, [OLD_SESSIONS])],
    check,
  } satisfies VoiceFeature & { check: CallbackCheck };
}
