import type { Logger } from "@parley/shared/log";
import { pathOf } from "./path.ts";

export interface Served {
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

/**
 * Writes a request's log line when its response starts. The line has no query, body, key or cookie.
 * @param operation the operation's id in the OpenAPI document
 */
export function logRequest(
  log: Logger,
  operation: string,
  { request, requestId, caller, status, startedAt, failure }: Served,
): void {
  const level = status >= 500 ? "warn" : "info";
  // Gathering the fields costs more than asking.
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      request_id: requestId,
      operation,
      method: request.method,
      path: pathOf(request),
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      ...(caller && { owner_id: caller.ownerId, caller_id: caller.id }),
      ...(level === "warn" && { err: failure }),
    },
    "request",
  );
}
