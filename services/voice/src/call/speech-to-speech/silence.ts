import { SILENT_CALL_MS, type TurnSettings } from "../../turn/settings.ts";
import type { CallClock } from "../call-clock.ts";

/** The time in which nobody says anything. */
export interface Silence {
  /** Nobody speaks from now on. */
  begins(): void;
  /** The user has spoken: reminders are counted anew. */
  userSpoke(): void;
  /** When to remind the user, or to end the call, if nobody speaks until then. */
  dueAt(): number;
  /** @returns whether the user is to be reminded; false after the last reminder */
  reminds(): boolean;
}

export function silenceOf(clock: CallClock, idle: TurnSettings["idle"]): Silence {
  let since = clock.now();
  let reminders = 0;
  return {
    begins: () => {
      since = clock.now();
    },
    userSpoke: () => {
      since = clock.now();
      reminders = 0;
    },
    dueAt: () => since + (idle?.afterMs ?? SILENT_CALL_MS),
    reminds: () => {
      if (reminders >= (idle?.remindersMax ?? 0)) return false;
      reminders++;
      return true;
    },
  };
}
