import { oldRows } from "@parley/shared/jobs/old-rows";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { registered } from "@parley/shared/rpc/registration";
import { BATCH_QUEUE, runBatches } from "../batches/run-batches.ts";
import type { VoiceFeature } from "../feature.ts";
import { addDoNotCall } from "../rpc/add-do-not-call.ts";
import { changeCallBatch } from "../rpc/change-call-batch.ts";
import { checkCallNumbers } from "../rpc/check-call-numbers.ts";
import { createCall } from "../rpc/create-call.ts";
import { createCallBatch } from "../rpc/create-call-batch.ts";
import { getCall } from "../rpc/get-call.ts";
import { getCallBatch } from "../rpc/get-call-batch.ts";
import { hangUpCall } from "../rpc/hang-up-call.ts";
import { listCallBatches } from "../rpc/list-call-batches.ts";
import { listCalls } from "../rpc/list-calls.ts";
import { listDoNotCall } from "../rpc/list-do-not-call.ts";
import { removeDoNotCall } from "../rpc/remove-do-not-call.ts";
import { OLD_BATCHES } from "../store/call-batches.ts";
import { OLD_USAGE } from "../store/call-usage.ts";
import { forgetGiven, OLD_CALLS } from "../store/outbound-calls.ts";
import { completeCalls } from "./complete-calls.ts";
import { type OutboundContext, QUEUES } from "./context.ts";
import { observeQueuedCalls } from "./metrics.ts";
import { placeCalls } from "./place-calls.ts";
import { watchCalls } from "./watch-calls.ts";

/** Outbound calls: their RPCs and their background work. */
export function outboundCalls(ctx: OutboundContext) {
  return {
    handlers: {
      createCall: createCall(ctx),
      getCall: getCall(ctx),
      listCalls: registered(listCalls(ctx), { isList: true }),
      hangUpCall: hangUpCall(ctx),
      createCallBatch: createCallBatch(ctx),
      checkCallNumbers: checkCallNumbers(ctx),
      getCallBatch: getCallBatch(ctx),
      listCallBatches: registered(listCallBatches(ctx), { isList: true }),
      changeCallBatch: changeCallBatch(ctx),
      listDoNotCall: registered(listDoNotCall(ctx), { isList: true }),
      addDoNotCall: addDoNotCall(ctx),
      removeDoNotCall: removeDoNotCall(ctx),
    },
    queues: {
      [QUEUES.place]: placeCalls(ctx),
      [QUEUES.watch]: watchCalls(ctx),
      [QUEUES.complete]: completeCalls(ctx),
      [BATCH_QUEUE]: runBatches(ctx),
    },
    sweeps: [
      oldRows(ctx.db, "delete-ended-calls", EVERY_MS, [OLD_CALLS, OLD_BATCHES]),
      givenVariables(ctx),
      oldRows(ctx.db, "delete-call-usage", EVERY_MS, [OLD_USAGE]),
    ],
    stop: observeQueuedCalls(ctx.db, ctx.clock),
  } satisfies VoiceFeature;
}

const EVERY_MS = 60_000;
const BATCH = 1_000;

/** While a process may still be about to have the conversation completed. */
const GIVEN_KEPT_MS = 10 * 60_000;

/** Forgets the variables and metadata of ended calls, up to 64 KiB each, which their conversations have. */
function givenVariables({ db }: OutboundContext): Sweep {
  return {
    name: "forget-given-variables",
    everyMs: EVERY_MS,
    deletes: true,
    run: async (now, stopping) => {
      const before = new Date(now.getTime() - GIVEN_KEPT_MS);
      while ((await forgetGiven(db, before, BATCH)) === BATCH && !stopping.aborted);
    },
  };
}
