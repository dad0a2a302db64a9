/** Time that only passes, and a timer, passed in so that tests control them. */
export interface PassingTime {
  /** Milliseconds, from any start. */
  now(): number;
  /** @returns a function that cancels it */
  after(ms: number, then: () => void): () => void;
}

export const passingTime: PassingTime = {
  now: () => performance.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};
