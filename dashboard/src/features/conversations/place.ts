interface SpokenTimes {
  /** When it had been said. */
  timestamp: string;
  /** When its first word was heard; absent if that was not measured. */
  started_at?: string | undefined;
}

interface CallTimes {
  created_at: string;
  answered_at?: string | undefined;
}

/** When a message began to be said, as far as that was measured. */
export function beganAt({ started_at, timestamp }: SpokenTimes): string {
  return started_at ?? timestamp;
}

/** Where a message begins in the recording of its call, which begins when the call is answered; in seconds. */
export function placeOf(message: SpokenTimes, { answered_at, created_at }: CallTimes): number {
  return Math.max(0, (Date.parse(beganAt(message)) - Date.parse(answered_at ?? created_at)) / 1_000);
}
