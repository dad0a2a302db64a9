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
