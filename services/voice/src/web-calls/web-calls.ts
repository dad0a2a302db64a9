import { oldRows } from "@parley/shared/jobs/old-rows";
import type { VoiceFeature } from "../feature.ts";
import { connectWebCall } from "../rpc/connect-web-call.ts";
import { createWebCall } from "../rpc/create-web-call.ts";
import { endWebCall } from "../rpc/end-web-call.ts";
import { EXPIRED_WEB_CALLS, UNUSED_WEB_CALLS } from "../store/web-calls.ts";
import type { WebCallContext } from "./context.ts";

/** Calls of browsers: a token for each, which connects it once. */
export function webCalls(ctx: WebCallContext) {
  return {
    handlers: {
      createWebCall: createWebCall(ctx),
      connectWebCall: connectWebCall(ctx),
      endWebCall: endWebCall(ctx),
    },
    sweeps: [oldRows(ctx.db, "delete-expired-web-calls", 60_000, [UNUSED_WEB_CALLS, EXPIRED_WEB_CALLS])],
  } satisfies VoiceFeature;
}
