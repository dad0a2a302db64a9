const OWNERS_REMEMBERED_MAX = 10_000;

/** Estimates the size of an owner's next read, so that room can be reserved before it begins. */
export interface ExpectedBytes {
  /** The expected size: that of the owner's last read or half of what was expected of it, whichever is larger; at least what most reads have. */
  of(ownerId: string): number;
  /** Reports how large a read was. */
  saw(ownerId: string, bytes: number): void;
}

/** @param usualBytes the size that most reads do not exceed */
export function expectedBytes(usualBytes: number): ExpectedBytes {
  /** The expected sizes of owners whose reads are larger than usual. */
  const expected = new Map<string, number>();
  const of = (ownerId: string) => expected.get(ownerId) ?? usualBytes;
  return {
    of,
    saw: (ownerId, bytes) => {
      const next = Math.max(bytes, Math.ceil(of(ownerId) / 2));
      expected.delete(ownerId);
      if (next > usualBytes) expected.set(ownerId, next);
      const [oldest] = expected.keys();
      if (expected.size > OWNERS_REMEMBERED_MAX && oldest !== undefined) expected.delete(oldest);
    },
  };
}
