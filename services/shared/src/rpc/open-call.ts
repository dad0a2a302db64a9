import type { ServerUnaryCall } from "@grpc/grpc-js";
import { ServiceError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { type Call, readOrigin } from "./call.ts";
import { type RichStatus, toStatus } from "./status.ts";

/** A call that has not been answered yet. */
export interface OpenCall {
  call: Call;
  /** Whether the caller no longer waits for the answer. */
  readonly gone: boolean;
  /** The caller that gets true must answer. */
  close(): boolean;
}

/** The calls that a server is handling. */
export interface RunningCalls {
  log: Logger;
  stopping: AbortSignal;
  /** Functions that cut off the running calls. */
  running: Set<() => void>;
}

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "metadata" | "getDeadline" | "once">;

/** @param refuse answers the call if it is cut off at shutdown */
export function openCall(grpcCall: AnyCall, server: RunningCalls, refuse: (status: RichStatus) => void): OpenCall {
  let answered = false;
  let gone = false;
  // Created only for those who read the signal: creating and firing it costs a tenth of a small call.
  let aborter: AbortController | undefined;
  const leave = () => {
    gone = true;
    aborter?.abort();
  };
  // Also emitted after every answer, once the last of it is sent.
  grpcCall.once("cancelled", () => {
    if (!answered) leave();
  });
  const close = () => {
    if (answered) return false;
    answered = true;
    server.running.delete(cut);
    return true;
  };
  const cut = () => {
    if (!close()) return;
    leave();
    refuse(toStatus(new ServiceError("unavailable", "The service is stopping. Try again.", { retryAfterMs: 1000 })));
  };
  server.running.add(cut);
  const origin = readOrigin(grpcCall.metadata);
  let log: Logger | undefined;
  const call: Call = {
    ...origin,
    deadlineMs: deadlineOf(grpcCall),
    get signal() {
      if (!aborter) {
        aborter = new AbortController();
        if (gone) aborter.abort();
      }
      return aborter.signal;
    },
    stopping: server.stopping,
    serverLog: server.log,
    get log() {
      log ??= server.log.child({ request_id: origin.requestId });
      return log;
    },
  };
  return {
    call,
    close,
    get gone() {
      return gone;
    },
  };
}

function deadlineOf(grpcCall: AnyCall): number | undefined {
  const deadline = grpcCall.getDeadline();
  const deadlineMs = deadline instanceof Date ? deadline.getTime() : deadline;
  return Number.isFinite(deadlineMs) ? deadlineMs : undefined;
}
