import type { VoiceFeature } from "../feature.ts";
import { connectWebCall } from "../rpc/connect-web-call.ts";
import { createWebCall } from "../rpc/create-web-call.ts";
import { endWebCall } from "../rpc/end-web-call.ts";
import type { WebCallContext } from "./context.ts";
import { expiredWebCalls } from "./expire.ts";

/** Calls of browsers: a token for each, which connects it once. */
export function webCalls(ctx: WebCallContext) {
  return {
    handlers: {
      createWebCall: createWebCall(ctx),
      connectWebCall: connectWebCall(ctx),
      endWebCall: endWebCall(ctx),
    },
    sweeps: [expiredWebCalls(ctx.db)],
  } satisfies VoiceFeature;
}
