import type { Pcm } from "../audio/pcm.ts";

/** Reports when someone speaks. */
export interface VoiceDetector {
  /** Listens to one call. */
  listen(heard: (event: VoiceEvent) => void): DetectorStream;
}

export interface DetectorStream {
  /** Takes the next audio. Never waits; drops audio while the detector is far behind. */
  send(audio: Pcm): void;
  /** How many milliseconds its judgement is behind now, beyond what is usual: events about them may still come. Absent: none. */
  behindMs?(): number;
  close(): void;
}

/** `agoMs`: how long before the newest audio that was judged. */
export type VoiceEvent = { type: "speech_began" | "speech_ended"; agoMs: number };
