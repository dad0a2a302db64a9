import { ServiceError } from "../errors.ts";

/** How long a start webhook may take, in milliseconds. */
export const START_WEBHOOK_MS = { min: 500, max: 7_000, usual: 3_000 } as const;

/** The timeout of a call that may ask a start webhook, in milliseconds. */
export const STARTING_MS = START_WEBHOOK_MS.max + 5_000;

/** The error of a conversation that may not begin, because its agent's start webhook gave no proper answer. */
export function startFailure(detail: string, conversationId: string): ServiceError {
  return new ServiceError("upstream_failed", detail, {
    metadata: { start_webhook: "failed", session_id: conversationId },
  });
}

export function isStartFailure(error: unknown): boolean {
  return error instanceof ServiceError && error.metadata.start_webhook !== undefined;
}
