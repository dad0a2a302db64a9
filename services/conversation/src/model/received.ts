import { type Meter, meterBodies } from "@parley/shared/egress/meter";

/** Smaller amounts are not reported: most whole answers are smaller. */
const RECEIVED_TOLD = 32 * 1024;

/** What has become of the bytes of one answer. The first two functions are called once all but the given number of bytes have been. */
export interface Received {
  /** They have been read, whether there was text in them or not. */
  read(leftBytes?: number): void;
  /** Their text has been passed on. */
  passedOn(leftBytes?: number): void;
  /** What still arrives is not counted. */
  end(): void;
}

/**
 * Reports the bytes received of an answer and not yet passed on.
 * @param ahead is told of those that arrive faster than they are read (`ModelRequest.ahead`)
 */
export function metered(meter: Meter | undefined, signal: AbortSignal, ahead?: (bytes: number) => void): Received {
  let held = 0;
  let unread = 0;
  let told = 0;
  let isOver = false;
  if (meter) {
    const received = (bytes: number) => {
      if (isOver) return;
      held += bytes;
      unread += bytes;
      if (held > RECEIVED_TOLD) meter.received(held);
      if (unread <= Math.max(told, RECEIVED_TOLD)) return;
      ahead?.(unread - told);
      told = unread;
    };
    meterBodies(signal, { ...meter, received });
  }
  return {
    read: (leftBytes = 0) => {
      unread = Math.min(unread, leftBytes);
    },
    passedOn: (leftBytes = 0) => {
      held = Math.min(held, leftBytes);
    },
    end: () => {
      isOver = true;
    },
  };
}
