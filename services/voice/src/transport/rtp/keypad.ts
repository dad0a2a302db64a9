import { ServiceError } from "@parley/shared/errors";
import { FRAME_MS } from "../../audio/pcm.ts";
import { KEYS } from "./dtmf.ts";

/** Keys on their way out, FRAME_MS after FRAME_MS. */
interface Keypad {
  /** Presses these keys after those that are pressed already. @throws ServiceError condition if it is closed before */
  press(keys: string): Promise<void>;
  /** What goes out in the next FRAME_MS: a packet of a key, a pause, or null if no key is pressed. */
  next(): KeyPacket | "pause" | null;
  close(): void;
}

/** A telephone event (RFC 4733, section 2.3). */
export interface KeyPacket {
  event: number;
  isFirst: boolean;
  isEnd: boolean;
  /** How many FRAME_MS the key has lasted. */
  frames: number;
}

/** 120 ms of the key and 80 ms of silence: at least three times what ITU-T Q.24 demands of a receiver. */
const KEY_FRAMES = 6;
/** Its end is sent three times, so that it survives losses (RFC 4733, section 2.5.1.4). */
const ENDS = 3;
const GAP_FRAMES = 2;
const PAUSE_FRAMES = 500 / FRAME_MS;

export function keypad(): Keypad {
  const queue: (KeyPacket | "pause" | (() => void))[] = [];
  let isClosed = false;
  const ended = Promise.withResolvers<never>();
  // Nobody may be waiting.
  ended.promise.catch(() => {});
  const gone = () => new ServiceError("condition", "The call ended before all keys were pressed");
  return {
    press: async (keys) => {
      if (isClosed) throw gone();
      for (const key of keys) queue.push(...framesOf(key));
      const pressed = Promise.withResolvers<void>();
      queue.push(pressed.resolve);
      await Promise.race([pressed.promise, ended.promise]);
    },
    next: () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (typeof next !== "function") return next;
        next();
      }
      return null;
    },
    close: () => {
      isClosed = true;
      ended.reject(gone());
    },
  };
}

function framesOf(key: string): (KeyPacket | "pause")[] {
  if (key === "w") return new Array<"pause">(PAUSE_FRAMES).fill("pause");
  const event = KEYS.indexOf(key);
  const packets = Array.from({ length: KEY_FRAMES + ENDS - 1 }, (_, at): KeyPacket => {
    const frames = Math.min(at + 1, KEY_FRAMES);
    return { event, isFirst: at === 0, isEnd: frames === KEY_FRAMES, frames };
  });
  return [...packets, ...new Array<"pause">(GAP_FRAMES).fill("pause")];
}
