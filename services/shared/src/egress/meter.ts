/** Whose body it is, and callbacks for the number of bytes that have just arrived (of a piece, at least 64) and for its end. */
export interface Meter {
  ownerId: string;
  received(bytes: number): void;
  ended?(): void;
}

const METERS = new WeakMap<AbortSignal, Meter>();

/**
 * Counts response bodies of a signal's requests while they arrive; abort the signal to end them. Keyed by signal,
 * because the provider packages pass nothing else of a request on to `fetch`.
 */
export function meterBodies(signal: AbortSignal, meter: Meter): void {
  METERS.set(signal, meter);
}

export function meterOf(signal: AbortSignal | null | undefined): Meter | undefined {
  return signal ? METERS.get(signal) : undefined;
}
