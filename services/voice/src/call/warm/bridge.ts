import { FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import type { Leg } from "../../transport/leg.ts";
import type { Line } from "./reach-person.ts";
import { type Ears, hearParty } from "./utterances.ts";

export interface BridgeParts {
  /** Absent: what they say is not transcribed. */
  ears?: Ears | undefined;
  said(role: "user" | "person", text: string): void;
  /** They talk no more. */
  over?(): void;
}

/** Two people who talk to each other. */
export interface Bridge {
  /** What the user says. */
  hear(frame: Pcm): void;
  /** The user has left, or the call ends: hangs up the person. */
  end(): void;
}

/** Audio that waits on a leg at most: the two sides' clocks differ, and a delay would grow. */
const QUEUED_MAX_SAMPLES = 10 * FRAME_SAMPLES;

/** Connects the user with a person. @param left called when the person has left @param over aborted when the call ends */
export function bridge(
  { ears, said, ...parts }: BridgeParts,
  user: Leg,
  line: Line,
  left: () => void,
  over: AbortSignal,
): Bridge {
  const hears = (role: "user" | "person") => ears && hearParty(ears, (text) => said(role, text), over);
  const ofUser = hears("user");
  const ofPerson = hears("person");
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    ofUser?.close();
    ofPerson?.close();
    parts.over?.();
    void line.leg.hangUp().catch(() => {});
  };
  line.hand({
    heard: (frame) => {
      if (isOver) return;
      pass(user, frame);
      ofPerson?.hear(frame);
    },
    ended: () => {
      if (!isOver) left();
    },
  });
  return {
    hear: (frame) => {
      if (isOver) return;
      pass(line.leg, frame);
      ofUser?.hear(frame);
    },
    end,
  };
}

function pass(leg: Leg, frame: Pcm): void {
  if (leg.queuedSamples() < QUEUED_MAX_SAMPLES) leg.play(frame);
}
