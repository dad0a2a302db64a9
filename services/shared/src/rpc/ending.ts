import { databaseUnreachable, isOutOfTime, isUnreachableDatabase } from "../db/unreachable.ts";
import { cancelled, ServiceError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { actorText } from "./actor.ts";
import type { Call } from "./call.ts";
import { isFromPeer } from "./status.ts";

/** How a call ended: for its caller, and for its line in the log. */
export interface Ending {
  /** The error that the caller gets instead of an answer. */
  failure: ServiceError | null;
  level: "info" | "warn" | "error";
  msg: string;
  /** The fault behind the failure, when this process has to explain it. */
  err?: unknown;
}

interface Failed extends Ending {
  failure: ServiceError;
}

export const SUCCEEDED: Ending = { failure: null, level: "info", msg: "rpc" };

export function failed(failure: ServiceError): Failed {
  return { failure, level: "info", msg: "rpc" };
}

/** @param gone whether the caller no longer waits for the answer */
export function endingOf(error: unknown, gone: boolean): Failed {
  if (error instanceof ServiceError) {
    // The peer that sent an internal error has logged it.
    const isOurs = error.kind === "internal" && !isFromPeer(error);
    return isOurs ? { failure: error, level: "error", msg: "rpc failed", err: error.cause ?? error } : failed(error);
  }
  if (gone && isAbort(error)) return failed(cancelled());
  if (isUnreachableDatabase(error))
    return { failure: databaseUnreachable(error), level: "warn", msg: "database unreachable", err: error };
  if (isOutOfTime(error)) {
    const failure = new ServiceError("deadline", "The database took too long. Try again.");
    return { failure, level: "warn", msg: "database too slow", err: error };
  }
  const failure = new ServiceError("internal", "An unexpected error");
  return { failure, level: "error", msg: "rpc failed", err: error };
}

/** The error of awaiting something on an aborted signal, or of reading the requests of a caller that is gone. */
function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "AbortError" || ("code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE");
}

/**
 * Writes a call's log line. It names the owner, but nothing else of the request: texts and keys never reach the log.
 * @param startedAt in milliseconds of `performance.now()`
 */
export function logEnding(
  log: Logger,
  rpc: string,
  { ownerId, call, startedAt }: { ownerId: string; call: Call; startedAt: number },
  { failure, level, msg, err }: Ending,
): void {
  const shown = level === "info" && rpc.startsWith(HEALTH) ? "debug" : level;
  // Gathering the fields costs more than asking.
  if (!log.isLevelEnabled(shown)) return;
  log[shown](
    {
      request_id: call.requestId,
      rpc,
      ...(ownerId !== "" && { owner_id: ownerId }),
      actor: actorText(call.actor) || undefined,
      outcome: failure?.kind ?? "ok",
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      ...(call.replayed && { replayed: true }),
      ...(err !== undefined && { err }),
    },
    msg,
  );
}

/** Clients and probes ask every few seconds. */
const HEALTH = "/grpc.health.";
