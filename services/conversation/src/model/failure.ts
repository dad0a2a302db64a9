import { APICallError } from "@ai-sdk/provider";
import { EgressError, type EgressErrorKind } from "@parley/shared/egress/error";
import { cancelled, ServiceError } from "@parley/shared/errors";
import { retryAfterMs } from "./retry-after.ts";

/** A provider's failure. Its `retryAfterMs` is the provider's own word. */
export class ModelFailure extends ServiceError {
  /** Whether the same request may fare better when it is sent again. */
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

/**
 * What a provider's failure is to a user: which provider, what went wrong in the provider's own terms (its status), and
 * nothing of what was sent to it.
 */
export function failureOf(error: unknown, provider: string, signal: AbortSignal): ServiceError {
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return cancelled(error);
  return failed(provider, whatFailed(error), error);
}

/** A stream ended without the provider's word that it is complete. @param begun whether anything of an answer came before */
export function endlessStream(provider: string, begun: boolean): ModelFailure {
  return failed(provider, begun ? CUT_OFF : UNREADABLE);
}

/** Nothing of an answer came within the time there was for it. */
export function lateAnswer(provider: string): ModelFailure {
  return new ModelFailure("upstream_timeout", `The ${provider} model provider did not answer in time`, {
    isRetryable: false,
  });
}

interface Failed {
  what: string;
  isRetryable: boolean;
  retryAfterMs?: number | undefined;
}

function failed(provider: string, { what, ...facts }: Failed, cause?: unknown): ModelFailure {
  return new ModelFailure("upstream_failed", `The ${provider} model provider ${what}`, { ...facts, cause });
}

const UNREADABLE: Failed = { what: "gave an answer that cannot be read", isRetryable: true };
/** It ended before its end. */
const CUT_OFF: Failed = { what: "cut its answer off", isRetryable: true };
const NOT_CALLED: readonly EgressErrorKind[] = ["forbidden", "unresolvable", "timeout"];
const PASSING: readonly EgressErrorKind[] = ["unresolvable", "timeout", "network"];

function whatFailed(error: unknown): Failed {
  if (error instanceof EgressError) return guarded(error);
  if (APICallError.isInstance(error)) return callFailed(error);
  // What a provider reports in the middle of a stream comes as it is, and not as an Error.
  return error instanceof Error ? UNREADABLE : reported(error);
}

function guarded({ kind, message }: EgressError): Failed {
  const what = `${NOT_CALLED.includes(kind) ? "was not called" : "cannot be used"}: ${message}`;
  return { what, isRetryable: PASSING.includes(kind) };
}

function callFailed({ statusCode, isRetryable, responseHeaders = {}, cause }: APICallError): Failed {
  if (statusCode === undefined) return { what: "is unreachable", isRetryable };
  if (statusCode >= 300) {
    return { what: answered(statusCode), isRetryable, retryAfterMs: retryAfterMs(responseHeaders, Date.now()) };
  }
  if (cause instanceof EgressError && cause.kind === "too_large") return guarded(cause);
  // Of a good response the SDK calls retryable what the network did to it.
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

/** Some providers say with it whether trying again helps; of the others nothing is known. */
function reported(error: unknown): Failed {
  const { statusCode, isRetryable } = (error ?? {}) as { statusCode?: unknown; isRetryable?: unknown };
  const what = typeof statusCode === "number" ? answered(statusCode) : "reported an error";
  return { what, isRetryable: isRetryable !== false };
}
