/** What kinds of failure cross a service boundary. The gateway alone turns them into HTTP. */
export type ErrorKind =
  | "invalid" // the request breaks a rule of its schema
  | "condition" // the request is well formed, the state it meets is not the one it needs
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "upstream_failed" // a provider beyond our services answered wrongly
  | "upstream_timeout"
  | "unavailable" // a service, database or dependency is out of reach: try again
  | "deadline" // our own time for the request is used up
  | "cancelled"
  | "unimplemented"
  | "internal";

export interface Violation {
  path: string;
  message: string;
}

interface ErrorFacts {
  /** Milliseconds after which a retry may work. */
  retryAfterMs?: number | undefined;
  violations?: readonly Violation[];
  /** Short facts for the receiver, such as the session a failed turn belongs to. */
  metadata?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/**
 * The one error that may cross a service boundary. `detail` is shown to users: one sentence, no secret, no SQL.
 * The cause stays in the process that saw it.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
  readonly violations: readonly Violation[];
  readonly metadata: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, detail: string, facts: ErrorFacts = {}) {
    super(detail, { cause: facts.cause });
    this.kind = kind;
    this.detail = detail;
    this.retryAfterMs = facts.retryAfterMs;
    this.violations = facts.violations ?? [];
    this.metadata = facts.metadata ?? {};
  }
}

/** The same error with more facts for the receiver. */
export function withMetadata(error: ServiceError, metadata: Readonly<Record<string, string>>): ServiceError {
  const { kind, detail, retryAfterMs, violations, cause } = error;
  return new ServiceError(kind, detail, {
    retryAfterMs,
    violations,
    cause,
    metadata: { ...error.metadata, ...metadata },
  });
}

/** The error for a caller that has gone. */
export function cancelled(cause?: unknown): ServiceError {
  return new ServiceError("cancelled", "The request was cancelled", { cause });
}

/** @param field the request field that refers to what does not exist, if a field does */
export function notFound(what: string, field?: string): ServiceError {
  const message = `${what} not found`;
  return new ServiceError("not_found", message, field === undefined ? {} : { violations: [{ path: field, message }] });
}

/** Handles a rejected look-up: null for what does not exist. @throws any other error */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof ServiceError && error.kind === "not_found") return null;
  throw error;
}

/** One field breaks a rule; `message` names the field and what it must be. */
export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("invalid", message, { violations: [{ path, message }] });
}
