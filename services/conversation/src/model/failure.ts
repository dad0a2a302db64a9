import { type Answer, headersByName } from "@parley/shared/egress/answer";
import { codeOf, EgressError, type EgressErrorKind } from "@parley/shared/egress/error";
import { cancelled, ServiceError } from "@parley/shared/errors";
import { fieldsOf } from "./answers/protocol.ts";
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

/** Converts a provider's failure to an error for the user, which names the provider. */
export function failureOf(error: unknown, provider: string, signal: AbortSignal): ServiceError {
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return cancelled(error);
  return failed(provider, error instanceof EgressError ? guarded(error) : UNREADABLE, error);
}

/** The failure for a stream that does not say that it ends. @param begun whether any of the answer had arrived */
export function endlessStream(provider: string, begun: boolean): ModelFailure {
  return failed(provider, begun ? CUT_OFF : UNREADABLE);
}

/** The failure for an answer without words and tool calls: the same request would get another. @param reason why it ended so soon */
export function emptyAnswer(provider: string, reason: string | null): ModelFailure {
  return failed(provider, { what: because("gave an empty answer", reason ?? ""), isRetryable: false });
}

/** The failure for an error that a provider reports in an answer. @param reason what it says */
export function reportedError(provider: string, error: unknown, reason: string): ModelFailure {
  const { code, status, statusCode } = fieldsOf(error);
  const known = [code, status, statusCode].map(Number).find((number) => number >= 400 && number < 600);
  const what = (known !== undefined && STATUS_TEXTS[known]) || "reported an error";
  const isRetryable = known === undefined || mayPass(known);
  // Not the cause, which may quote a key.
  return failed(provider, { what: because(what, reason), isRetryable });
}

/** The failure for an answer that did not start in time. */
export function lateAnswer(provider: string): ModelFailure {
  return new ModelFailure("upstream_timeout", `The ${provider} model provider did not answer in time`, {
    isRetryable: false,
  });
}

/** The failure for an answer with an error status. @param reason what the provider says */
export function refusedCall(provider: string, answer: Answer, reason: string): ModelFailure {
  const { status } = answer;
  return failed(provider, {
    what: because(STATUS_TEXTS[status] ?? `answered with status ${status}`, reason),
    isRetryable: mayPass(status),
    retryAfterMs: retryAfterMs(headersByName(answer), Date.now()),
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

function guarded({ kind, message }: EgressError): Failed {
  const what = `${NOT_CALLED.includes(kind) ? "was not called" : "cannot be used"}: ${message}`;
  return { what, isRetryable: PASSING.includes(kind) };
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  401: "refused the API key",
  403: "refused the API key",
  404: "does not know the model or address",
  429: "is rate-limiting us",
};

function mayPass(status: number): boolean {
  return status >= 500 || RETRYABLE_STATUSES.includes(status);
}

function because(what: string, reason: string): string {
  return reason === "" ? what : `${what}: ${reason}`;
}
