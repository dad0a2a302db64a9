import { type ErrorKind, ServiceError } from "@parley/shared/errors";

/** An error as clients see it. Only this file knows status codes (docs/api-reference.md#errors). */
export interface Problem {
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
  // A service that hangs is as good as out of reach; 504 is the model provider's.
  deadline: 503,
  // Nobody is there to read it: the status nginx made customary for the log.
  cancelled: 499,
  unimplemented: 501,
  internal: 500,
};

/** Where the error itself says nothing: milliseconds after which to try again. */
const RETRY_MS: Partial<Record<ErrorKind, number>> = { unavailable: 1_000, deadline: 1_000 };

/** An error of HTTP itself, before any service is asked. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: 400 | 404 | 405 | 413 | 415, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

/** @param requestId names the failure to whoever can look it up in the logs */
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
