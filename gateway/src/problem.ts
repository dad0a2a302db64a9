import { type ErrorKind, ServiceError } from "@parley/shared/errors";

/** An error as clients see it. Only this file knows status codes (docs/api-reference.md#errors). */
interface Problem {
  status: number;
  body: { detail: string; errors?: { path: string; message: string }[] };
  headers: Record<string, string>;
}

const STATUSES: Record<ErrorKind, number> = {
  invalid: 422,
  condition: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  upstream_failed: 502,
  upstream_timeout: 504,
  unavailable: 503,
  // A service that hangs counts as unreachable; 504 is for the model provider.
  deadline: 503,
  // The client has gone, so only the log shows this; nginx established the status.
  cancelled: 499,
  unimplemented: 501,
  internal: 500,
};

/** When to retry, in milliseconds, unless the error says so itself. */
const RETRY_MS: Partial<Record<ErrorKind, number>> = { rate_limited: 1_000, unavailable: 1_000, deadline: 1_000 };

/** An HTTP-level error, before any service is called. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: 400 | 404 | 405 | 408 | 413 | 415 | 416, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

/** @param requestId lets an operator find the failure in the logs */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof HttpError)
    return { status: error.status, body: { detail: error.message }, headers: error.headers };
  if (!(error instanceof ServiceError) || error.kind === "internal") return internal(error, requestId);
  const { kind, detail, violations, metadata, retryAfterMs } = error;
  const wait = retryAfterMs ?? RETRY_MS[kind];
  return {
    status: STATUSES[kind],
    body: {
      detail,
      ...(violations.length > 0 && { errors: violations.map(({ path, message }) => ({ path, message })) }),
    },
    headers: {
      ...(wait !== undefined && { "Retry-After": String(Math.max(1, Math.ceil(wait / 1000))) }),
      ...(metadata.session_id !== undefined && { "X-Session-ID": metadata.session_id }),
    },
  };
}

function internal(error: unknown, requestId: string): Problem {
  const category = error instanceof ServiceError ? "a service failed" : "the gateway failed";
  return {
    status: 500,
    body: { detail: `Internal Server Error: request ${requestId}, ${category}` },
    headers:
      error instanceof ServiceError && error.metadata.session_id ? { "X-Session-ID": error.metadata.session_id } : {},
  };
}
