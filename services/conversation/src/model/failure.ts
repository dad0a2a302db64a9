import { APICallError } from "@ai-sdk/provider";
import { ServiceError } from "@parley/shared/errors";

/**
 * What a provider's failure is to a user: which provider, what went wrong in the provider's own terms (its status), and
 * nothing of what was sent to it.
 */
export function failureOf(error: unknown, provider: string, signal: AbortSignal): ServiceError {
  if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return new ServiceError("cancelled", "The request was cancelled", { cause: error });
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const what = STATUS_TEXTS[error.statusCode] ?? `answered with status ${error.statusCode}`;
    return failed(`The ${provider} model provider ${what}`, error);
  }
  if (isEgressRefusal(error)) return failed(`The ${provider} model provider was not called: ${error.message}`, error);
  if (APICallError.isInstance(error)) return failed(`The ${provider} model provider is unreachable`, error);
  return failed(`The ${provider} model provider gave an answer that cannot be read`, error);
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  // The SDK reports an unreadable body of a good response with its status.
  200: "gave an answer that cannot be read",
  401: "refused the API key",
  403: "refused the API key",
  404: "does not know the model or address",
  429: "is rate-limiting us",
};

function failed(detail: string, cause: unknown): ServiceError {
  return new ServiceError("upstream_failed", detail, { cause });
}

function isEgressRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === "EgressError";
}
