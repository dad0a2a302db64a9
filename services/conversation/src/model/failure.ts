import { APICallError } from "@ai-sdk/provider";
import type { Answer } from "@parley/shared/egress/answer";
import { codeOf, EgressError, type EgressErrorKind } from "@parley/shared/egress/error";
import { cancelled, ServiceError } from "@parley/shared/errors";
import { retryAfterMs } from "./retry-after.ts";

/** A provider's failure, with the provider's own `retryAfterMs`. */
export class ModelFailure extends ServiceError {
  /** Whether the same request may succeed on a retry. */
  readonly isRetryable: boolean;

  constructor(
    kind: "upstream_failed" | "upstream_timeout",
    detail: string,
    facts: { isRetryable: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(kind, detail, {
      cause: facts.cause,
      ...(facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
    });
    this.isRetryable = facts.isRetryable;
  }
}

/** Why calls that have ended are aborted: to release what they hold. One for all, because a new one, with its stack, takes 9 µs. */
export const OVER = new DOMException("The call is over", "AbortError");

/** Converts a provider's failure to an error for the user: names the provider and its status, and nothing of the request. */
export function failureOf(error: unknown, provider: string, signal: AbortSignal): ServiceError {
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return cancelled(error);
  return failed(provider, whatFailed(error), error);
}

/** The failure for a stream without a finish reason. @param begun whether any of the answer had arrived */
export function endlessStream(provider: string, begun: boolean): ModelFailure {
  return failed(provider, begun ? CUT_OFF : UNREADABLE);
}

/** The failure for an answer that did not start in time. */
export function lateAnswer(provider: string): ModelFailure {
  return new ModelFailure("upstream_timeout", `The ${provider} model provider did not answer in time`, {
    isRetryable: false,
  });
}

/** The failure for an answer with an error status. */
export function refusedCall(provider: string, { status, rawHeaders }: Answer): ModelFailure {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers[rawHeaders[at]?.toLowerCase() ?? ""] = rawHeaders[at + 1] ?? "";
  return failed(provider, {
    what: answered(status),
    isRetryable: status >= 500 || RETRYABLE_STATUSES.includes(status),
    retryAfterMs: retryAfterMs(headers, Date.now()),
  });
}

/** The failure for a connection that breaks before the answer. */
export function unreachable(provider: string, cause: unknown): ModelFailure {
  return failed(provider, UNREACHABLE, cause);
}

/** The failure for a connection that breaks within the answer. */
export function brokenAnswer(provider: string, cause: unknown): ModelFailure {
  return failed(provider, CUT_OFF, cause);
}

/** Whether a connection broke or could not be opened; false for one that is forbidden or not trusted. */
export function isBrokenConnection(error: unknown): boolean {
  return error instanceof EgressError && error.kind === "network" && BROKEN_CODES.includes(codeOf(error.cause));
}

interface Failed {
  what: string;
  isRetryable: boolean;
  retryAfterMs?: number | undefined;
}

function failed(provider: string, { what, ...facts }: Failed, cause?: unknown): ModelFailure {
  return new ModelFailure("upstream_failed", `The ${provider} model provider ${what}`, { ...facts, cause });
}

const UNREACHABLE: Failed = { what: "is unreachable", isRetryable: true };
const UNREADABLE: Failed = { what: "gave an answer that cannot be read", isRetryable: true };
const CUT_OFF: Failed = { what: "cut off its answer", isRetryable: true };
/** Request timeout, conflict, too many requests. */
const RETRYABLE_STATUSES: readonly number[] = [408, 409, 429];
/** Codes of broken connections, of Node and of Bun's fetch. */
const BROKEN_CODES: readonly string[] = [
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"],
  ...["ConnectionRefused", "ConnectionClosed", "FailedToOpenSocket"],
];
const NOT_CALLED: readonly EgressErrorKind[] = ["forbidden", "unresolvable", "timeout"];
const PASSING: readonly EgressErrorKind[] = ["unresolvable", "timeout", "network"];

function whatFailed(error: unknown): Failed {
  if (error instanceof EgressError) return guarded(error);
  if (APICallError.isInstance(error)) return callFailed(error);
  // Errors that a provider reports within a stream are not Error objects.
  return error instanceof Error ? UNREADABLE : reported(error);
}

function guarded({ kind, message }: EgressError): Failed {
  const what = `${NOT_CALLED.includes(kind) ? "was not called" : "cannot be used"}: ${message}`;
  return { what, isRetryable: PASSING.includes(kind) };
}

function callFailed({ statusCode, isRetryable, responseHeaders = {}, cause }: APICallError): Failed {
  if (statusCode === undefined) return { ...UNREACHABLE, isRetryable };
  if (statusCode >= 300) {
    return { what: answered(statusCode), isRetryable, retryAfterMs: retryAfterMs(responseHeaders, Date.now()) };
  }
  if (cause instanceof EgressError && cause.kind === "too_large") return guarded(cause);
  // For a 2xx response the SDK sets isRetryable when the connection broke.
  return isRetryable ? CUT_OFF : UNREADABLE;
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  401: "refused the API key",
  403: "refused the API key",
  404: "does not know the model or address",
  429: "is rate-limiting us",
};

function answered(status: number): string {
  return STATUS_TEXTS[status] ?? `answered with status ${status}`;
}

/** Only some providers say whether a retry helps. */
function reported(error: unknown): Failed {
  const { statusCode, isRetryable } = (error ?? {}) as { statusCode?: unknown; isRetryable?: unknown };
  const what = typeof statusCode === "number" ? answered(statusCode) : "reported an error";
  return { what, isRetryable: isRetryable !== false };
}
