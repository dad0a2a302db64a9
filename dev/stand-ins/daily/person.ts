import type { PhoneAudio } from "@parley/shared/phone/audio";

/** What someone in a room does. */
export interface Behavior {
  /** Sentences, each said when the agent has finished. */
  say: string[];
  /** Milliseconds after which they leave; null: when the agent has answered the last sentence. */
  leaveAfterMs: number | null;
}

/** Someone who talks with the agent in a room. */
export interface Person {
  heard(frame: Int16Array): void;
  /** Connects the agent, so that the person can talk with it. */
  connect(audio: PhoneAudio): void;
  saidLines(): number;
  /** Frames of the agent's voice that were heard. */
  heardFrames(): number;
  stop(): void;
}

/** The level from which sound is a voice. */
const VOICE_FROM = 500;
/** Silence after which the agent has finished. */
const PAUSE_MS = 1_200;
/** How long the person waits for an agent that says nothing. */
const PATIENCE_MS = 20_000;
const TICK_MS = 20;

/**
 * @param speak returns a sentence in samples of PHONE_HZ
 * @param leave is called once, when they leave by themselves
 */
export function person(
  { say, leaveAfterMs }: Behavior,
  speak: (sentence: string) => Promise<Int16Array>,
  leave: () => void,
): Person {
  const lines = [...say];
  let audio: PhoneAudio | null = null;
  let [said, heardFrames] = [0, 0];
  /** When the agent was last heard, and when its turn began. */
  let heardAt: number | null = null;
  let turnAt = performance.now();
  let isPreparing = false;

  const next = async (to: PhoneAudio) => {
    const line = lines.shift();
    if (line === undefined) {
      // A person with a time to leave stays until then.
      if (leaveAfterMs === null) end();
      return;
    }
    isPreparing = true;
    const samples = await speak(line);
    to.say(samples);
    said++;
    heardAt = null;
    turnAt = performance.now();
    isPreparing = false;
  };

  const tick = () => {
    if (!audio || isPreparing) return;
    const now = performance.now();
    if (audio.queuedSamples() > 0) {
      turnAt = now;
      return;
    }
    const isMyTurn = heardAt === null ? now - turnAt > PATIENCE_MS : now - heardAt > PAUSE_MS;
    if (isMyTurn) void next(audio);
  };

  const ticking = setInterval(tick, TICK_MS);
  const leaving = leaveAfterMs === null ? undefined : setTimeout(() => end(), leaveAfterMs);
  const stop = () => {
    clearInterval(ticking);
    clearTimeout(leaving);
  };
  const end = () => {
    stop();
    leave();
  };

  return {
    heard: (frame) => {
      if (!frame.some((sample) => Math.abs(sample) > VOICE_FROM)) return;
      heardFrames++;
      heardAt = performance.now();
    },
    connect: (given) => {
      audio = given;
      turnAt = performance.now();
    },
    saidLines: () => said,
    heardFrames: () => heardFrames,
    stop,
  };
}
