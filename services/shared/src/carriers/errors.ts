import { ServiceError } from "../errors.ts";

/** The carrier refuses a request, and will refuse it again. */
export class CarrierRefusal extends Error {
  override readonly name = "CarrierRefusal";
  constructor(
    /** The carrier's own code, such as `13224`; the HTTP status if it gave none. */
    readonly code: string,
    /** The carrier's own words, shown to the owner. */
    readonly words: string,
    /** HTTP status of the answer; null if it was not refused over HTTP. */
    readonly status: number | null = null,
  ) {
    super(`${code}: ${words}`);
  }
}

/** The carrier cannot be reached, is overloaded or did not answer in time: it may have carried out the request. */
export class CarrierUnavailable extends Error {
  override readonly name = "CarrierUnavailable";
  constructor(
    message: string,
    /** When the carrier wants a retry, if it said so. */
    readonly retryAfterMs: number | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** What an RPC throws when a carrier refuses or does not answer, with the carrier's own words; any other error stays as it is. */
export function asServiceError(error: unknown, carrier: string): unknown {
  if (error instanceof CarrierRefusal)
    return new ServiceError("upstream_failed", `${carrier} refused: ${error.message}`, { cause: error });
  if (error instanceof CarrierUnavailable) {
    const retryAfterMs = error.retryAfterMs ?? undefined;
    return new ServiceError("unavailable", `${error.message}. Try again.`, { retryAfterMs, cause: error });
  }
  return error;
}

/** For a `catch`: null when the carrier does not know what the request names. @throws any other error */
export function nullIfMissing(error: unknown): null {
  if (error instanceof CarrierRefusal && error.status === 404) return null;
  throw error;
}
