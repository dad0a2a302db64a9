import { type Meter, meterBodies } from "@parley/shared/egress/meter";

/** Smaller amounts are not reported: most whole answers are smaller. */
const RECEIVED_TOLD = 32 * 1024;

/** What has become of the bytes of one answer. */
export interface Received {
  /** The text of what has arrived has been passed on. */
  passedOn(): void;
  /** What still arrives is not counted. */
  end(): void;
}

/** Reports the bytes received of an answer and not yet passed on. */
export function metered(meter: Meter | undefined, signal: AbortSignal): Received {
  let held = 0;
  let isOver = false;
  if (meter) {
    const received = (bytes: number) => {
      if (isOver) return;
      held += bytes;
      if (held > RECEIVED_TOLD) meter.received(held);
    };
    meterBodies(signal, { ...meter, received });
  }
  return {
    passedOn: () => {
      held = 0;
    },
    end: () => {
      isOver = true;
    },
  };
}
