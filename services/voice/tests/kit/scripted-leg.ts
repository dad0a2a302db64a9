import type { PassingTime } from "@parley/shared/shares/passing-time";
import { FRAME_MS, type Pcm } from "../../src/audio/pcm.ts";
import type { Leg, LegListener } from "../../src/transport/leg.ts";
import { playback } from "../../src/transport/playback.ts";
import { FAR_END } from "../media-stream/carrier.ts";

export interface ScriptedLeg extends Leg {
  /** The first sample of each frame that was played; scripted voices put the number of their reply there. */
  played: number[];
  /** The audio sent in each FRAME_MS. */
  sent: (Pcm | null)[];
  hungUp: boolean;
  transfers: string[];
  /** The keys that were pressed. */
  pressed: string[];
  /** Why keys cannot be pressed; null if they can. */
  keysFault: Error | null;
  /** The other party puts the call on hold, or continues. */
  hold(isOnHold: boolean): void;
}

/** The outcome of a transfer; `ends`: the other side ends the leg before it reports success; a promise: that, when it settles. */
export type ScriptedTransfer = "succeeds" | "fails" | "ends" | Promise<void>;

/** A leg that plays by the given clock. */
export function scriptedLeg(time: PassingTime, to: LegListener, transfer: ScriptedTransfer = "succeeds"): ScriptedLeg {
  const queue = playback();
  const played: number[] = [];
  const sent: (Pcm | null)[] = [];
  const transfers: string[] = [];
  let hungUp = false;
  let isOnHold = false;
  const tick = () => {
    if (hungUp) return;
    time.after(FRAME_MS, tick);
    const next = isOnHold ? null : queue.nextFrame();
    sent.push(to.sending(next?.frame ?? null, 0));
    if (!next) return;
    played.push(next.frame[0] ?? 0);
    for (const mark of next.reached) to.reached(mark);
  };
  time.after(FRAME_MS, tick);
  const pressed: string[] = [];
  const leg: ScriptedLeg = {
    ...queue,
    play: (audio: Pcm) => queue.play(audio),
    played,
    sent,
    transfers,
    pressed,
    keysFault: null,
    press: async (keys) => {
      if (leg.keysFault) throw leg.keysFault;
      pressed.push(keys);
    },
    hold: (isHeld) => {
      isOnHold = isHeld;
      to.held?.(isHeld);
    },
    get hungUp() {
      return hungUp;
    },
    transfer: async (number) => {
      transfers.push(number);
      if (transfer === "fails") throw new Error("refused");
      if (transfer === "ends") to.ended("hung_up");
      await transfer;
    },
    hangUp: async () => {
      if (hungUp) return;
      hungUp = true;
      to.ended("ended_by_us");
    },
    farEnd: () => FAR_END,
  };
  return leg;
}
