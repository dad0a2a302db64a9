interface ByteRate {
  perSecond: number;
  /** Bytes that may arrive at once, as after network congestion. */
  burst: number;
}

/** Bounds what a peer sends, before work is done for it. @returns tells whether this many bytes more are too many */
export function byteRate({ perSecond, burst }: ByteRate, now = () => performance.now()): (bytes: number) => boolean {
  let credit = burst;
  let at = now();
  return (bytes) => {
    const before = at;
    at = now();
    credit = Math.min(burst, credit + ((at - before) / 1_000) * perSecond);
    if (bytes > credit) return true;
    credit -= bytes;
    return false;
  };
}
