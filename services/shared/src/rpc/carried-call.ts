import type { ServiceError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { servedCall } from "../telemetry/rpc.ts";
import { actorOf } from "./actor.ts";
import type { Call } from "./call.ts";
import { endingOf, logEnding, SUCCEEDED } from "./ending.ts";

/** A call among others in one stream: it begins, is left and answered in the stream's messages. */
interface CarriedCall {
  call: Call;
  /** Fires the call's signal: its caller waits no longer. */
  leave(): void;
}

/** @param timeoutMs how long the caller waits */
export function carriedCall(
  stream: Call,
  {
    requestId,
    traceparent,
    timeoutMs,
    actor,
  }: { requestId: string; traceparent: string; timeoutMs: number; actor: string },
): CarriedCall {
  const gone = new AbortController();
  let log: Logger | undefined;
  const call: Call = {
    requestId,
    actor: actorOf(actor),
    traceparent: traceparent === "" ? undefined : traceparent,
    deadlineMs: Date.now() + timeoutMs,
    signal: gone.signal,
    stopping: stream.stopping,
    serverLog: stream.serverLog,
    get log() {
      log ??= stream.serverLog.child({ request_id: requestId });
      return log;
    },
  };
  return { call, leave: () => gone.abort() };
}

/**
 * Handles a carried call as any other: in a span of its caller's trace, counted, timed and logged.
 * @param rpcPath its name in traces, metrics and logs, in the form of an RPC's path
 * @returns the error to answer with, null when it succeeded
 */
export async function serveCarried(
  rpcPath: string,
  ownerId: string,
  { call }: CarriedCall,
  work: () => Promise<void>,
): Promise<ServiceError | null> {
  const startedAt = performance.now();
  let ending = SUCCEEDED;
  await servedCall(rpcPath, call.traceparent, async () => {
    try {
      await work();
    } catch (error) {
      ending = endingOf(error, call.signal.aborted);
    }
    logEnding(call.serverLog, rpcPath, { ownerId, call, startedAt }, ending);
    return ending.failure;
  });
  return ending.failure;
}
