import { MACHINE_MS } from "../../turn/settings.ts";
import type { CallClock } from "../call-clock.ts";

/** The voicemail that answered, if one did. */
export interface Machine {
  /** It answered, or is ready as well; the reports may arrive in any order. */
  answers(isReady: boolean): void;
  isThere(): boolean;
  /** Whether it is reported as ready to record a message. */
  isReady(): boolean;
  /** Whether it still plays its own greeting, as far as is known. */
  isGreeting(): boolean;
  /** When it counts as ready without a report; null unless it plays its greeting. */
  readyAt(): number | null;
  /** @returns whether a message is to be left now, which is the case once */
  takesMessage(): boolean;
}

export function machineOf(clock: CallClock): Machine {
  let since: number | null = null;
  let isReady = false;
  let hasTaken = false;
  const isGreeting = () => since !== null && !hasTaken;
  return {
    answers: (reportedReady) => {
      since ??= clock.now();
      isReady ||= reportedReady;
    },
    isThere: () => since !== null,
    isReady: () => isReady,
    isGreeting,
    readyAt: () => (since !== null && !hasTaken ? since + MACHINE_MS : null),
    takesMessage: () => {
      const takes = isGreeting();
      hasTaken ||= takes;
      return takes;
    },
  };
}
