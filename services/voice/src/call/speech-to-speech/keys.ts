import { KEYS_MAX, KEYS_PAUSE_MS } from "../../turn/settings.ts";
import type { CallClock } from "../call-clock.ts";

/** The keys that the user presses, until they form a number. */
export interface PressedKeys {
  /** @returns whether the number is complete */
  press(key: string): boolean;
  /** When a pause completes the number; null without keys. */
  dueAt(): number | null;
  /** Takes the number. */
  take(): string;
}

export function pressedKeys(clock: CallClock): PressedKeys {
  let keys = "";
  let pressedAt: number | null = null;
  return {
    press: (key) => {
      if (key !== "#" || keys === "") keys += key;
      pressedAt = clock.now();
      return key === "#" || keys.length >= KEYS_MAX;
    },
    dueAt: () => pressedAt && pressedAt + KEYS_PAUSE_MS,
    take: () => {
      const taken = keys;
      keys = "";
      pressedAt = null;
      return taken;
    },
  };
}
