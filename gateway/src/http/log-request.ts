import type { Logger } from "@parley/shared/log";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import { pathOf } from "./path.ts";

interface Served {
  request: Request;
  requestId: string;
  /** The owner of the key or session; null for callers without one. */
  caller: { ownerId: string; id: string } | null;
  status: number;
  /** In `performance.now()` time. */
  startedAt: number;
  /** The error, if there was one. */
  failure: unknown;
}

/** Lines in any minute about refused requests without a key or session, which anyone may send as many of as they like. */
const REFUSED_STRANGERS_PER_MINUTE = 60;

/** Writes a request's log line when its response starts. @param operation the operation's id in the OpenAPI document */
export type RequestLog = (operation: string, served: Served) => void;

/** The lines have no query, body, key or cookie. @param nowMs milliseconds, from any start */
export function createRequestLog(log: Logger, nowMs?: () => number): RequestLog {
  const sample = slidingWindows({ keysMax: 1, ...(nowMs && { clock: nowMs }) });
  let unlogged = 0;
  return (operation, { request, requestId, caller, status, startedAt, failure }) => {
    const level = status >= 500 ? "warn" : "info";
    // Gathering the fields costs more than asking.
    if (!log.isLevelEnabled(level)) return;
    const isSampled = caller === null && status >= 400 && status < 500;
    if (isSampled && sample("", REFUSED_STRANGERS_PER_MINUTE).waitMs > 0) {
      unlogged++;
      return;
    }
    log[level](
      {
        request_id: requestId,
        operation,
        method: request.method,
        path: pathOf(request),
        status,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(caller && { owner_id: caller.ownerId, caller_id: caller.id }),
        ...(isSampled && unlogged > 0 && { unlogged }),
        ...(level === "warn" && { err: failure }),
      },
      "request",
    );
    if (isSampled) unlogged = 0;
  };
}
