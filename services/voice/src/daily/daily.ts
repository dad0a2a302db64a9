import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { VoiceFeature } from "../feature.ts";
import type { CallbackCheck } from "../rpc/check-callback-id.ts";
import { createDailySession } from "../rpc/daily/create-session.ts";
import { handleDailyWebhook } from "../rpc/daily/handle-webhook.ts";
import { deleteEndedSessions } from "../store/daily-sessions.ts";
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
    sweeps: [endedSessions(ctx)],
    check,
  } satisfies VoiceFeature & { check: CallbackCheck };
}

const EVERY_MS = 60_000;
const KEPT_MS = 30 * 24 * 60 * 60_000;
const BATCH = 1_000;

/** Deletes sessions 30 days after they ended; their conversations are kept for the owner's retention. */
function endedSessions({ db }: DailyContext): Sweep {
  return {
    name: "delete-ended-daily-sessions",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - KEPT_MS);
      while ((await deleteEndedSessions(db, before, BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
