/** Time inside a call: milliseconds of a monotonic clock. Passed in, so that tests move it. */
export interface CallClock {
  now(): number;
  /** Runs something later, unless the returned function is called first. */
  after(ms: number, run: () => void): () => void;
}

export const callClock: CallClock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
