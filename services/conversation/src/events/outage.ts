import type { Clock } from "@parley/shared/clock";
import { retryDelayMs } from "@parley/shared/jobs/queue";

/** While the dispatcher is down, this process calls it again after a pause that grows from 1 s to 30 s. */
export interface Outage {
  /** When the dispatcher may be called again; null if it may be called now. */
  endsAt(): Date | null;
  /** Call it after each call to the dispatcher. @param isDown whether it could not be reached */
  note(isDown: boolean): void;
}

/**
 * The jobs' own back-off does not suffice, because each conversation that ends makes its owner's job due again, and owners would
 * find out one by one.
 */
export function dispatcherOutage(clock: Clock): Outage {
  let failures = 0;
  let until = 0;
  const isOn = () => clock.now().getTime() < until;
  return {
    endsAt: () => (isOn() ? new Date(until) : null),
    note: (isDown) => {
      if (!isDown) failures = until = 0;
      // Calls that were under way together fail together.
      else if (!isOn()) until = clock.now().getTime() + retryDelayMs(++failures);
    },
  };
}
