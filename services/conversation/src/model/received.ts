import { meterBodies } from "@parley/shared/egress/meter";
import type { ModelRequest } from "./port.ts";

/** Smaller amounts are not reported: most whole answers are smaller. */
const RECEIVED_TOLD = 32 * 1024;

/** Reports the bytes received and not yet passed on. @returns a function to call once all but the given number have been */
export function metered({ meter }: ModelRequest, signal: AbortSignal): (leftBytes?: number) => void {
  let held = 0;
  if (meter) {
    const received = (bytes: number) => {
      held += bytes;
      if (held > RECEIVED_TOLD) meter.received(held);
    };
    meterBodies(signal, { ...meter, received });
  }
  return (leftBytes = 0) => {
    held = Math.min(held, leftBytes);
  };
}
