/** Whose body it is, and what is called with the number of bytes that have just arrived. */
export interface Meter {
  ownerId: string;
  received(bytes: number): void;
}

const METERS = new WeakMap<AbortSignal, Meter>();

/**
 * Has the bodies that answer the requests of a signal counted while they arrive; to end them, the meter's owner aborts the signal.
 * By the signal, because the packages that call a provider hand nothing else of a request on to `fetch`.
 */
export function meterBodies(signal: AbortSignal, meter: Meter): void {
  METERS.set(signal, meter);
}

export function meterOf(signal: AbortSignal | null | undefined): Meter | undefined {
  return signal ? METERS.get(signal) : undefined;
}
