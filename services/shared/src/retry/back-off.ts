/**
 * Retry delays that double, for queues and whatever else counts its attempts.
 * @param firstMs the delay after the first attempt
 * @returns the delay after so many attempts, 1 or more, in milliseconds
 */
export function backOff(firstMs: number, maxMs: number): (attempts: number) => number {
  return (attempts) => Math.min(maxMs, firstMs * 2 ** (attempts - 1));
}
