import { APICallError } from "@ai-sdk/provider";
import { EgressError } from "@parley/shared/egress/error";
import { ServiceError } from "@parley/shared/errors";

/**
 * What a provider's failure is to a user: which provider, what went wrong in the provider's own terms (its status), and
 * nothing of what was sent to it.
 */
export function failureOf(error: unknown, provider: string, signal: AbortSignal): ServiceError {
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return new ServiceError("cancelled", "The request was cancelled", { cause: error });
  return failed(provider, whatFailed(error), error);
}

/** A stream ended without the provider's word that it is complete. @param begun whether anything of an answer came before */
export function endlessStream(provider: string, begun: boolean): ServiceError {
  return failed(provider, begun ? CUT_OFF : UNREADABLE);
}

function failed(provider: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError("upstream_failed", `The ${provider} model provider ${what}`, { cause });
}

const UNREADABLE = "gave an answer that cannot be read";
/** It ended before its end. */
const CUT_OFF = "cut its answer off";
const NOT_CALLED: readonly string[] = ["forbidden", "unresolvable", "timeout"];

function whatFailed(error: unknown): string {
  if (error instanceof EgressError) return guarded(error);
  if (APICallError.isInstance(error)) return callFailed(error);
  // What a provider reports in the middle of a stream comes as it is, and not as an Error.
  return error instanceof Error ? UNREADABLE : reported(error);
}

function guarded({ kind, message }: EgressError): string {
  return `${NOT_CALLED.includes(kind) ? "was not called" : "cannot be used"}: ${message}`;
}

function callFailed({ statusCode, isRetryable, cause }: APICallError): string {
  if (statusCode === undefined) return "is unreachable";
  if (statusCode >= 300) return answered(statusCode);
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

function reported(error: unknown): string {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === "number" ? answered(status) : "reported an error";
}
