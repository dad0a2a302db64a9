import { codePoints } from "@parley/shared/text/length";
import { durationMs } from "../../audio/pcm.ts";
import type { SpokenTurnEvent } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import type { CallClock } from "../call-clock.ts";
import type { Captions } from "../captions.ts";
import { type Latency, type LatencyWatch, watchLatency } from "../latency.ts";
import { type Reply, replyOn } from "./reply.ts";
import type { SaidInOrder } from "./said.ts";

/** The agent of a call, as the user hears it. */
export interface Agent {
  /** The user has waited for the next reply since this moment; null if that reply does not answer the user. */
  awaitedSince(at: number | null): void;
  /** The model speaks, in its current reply or a new one. */
  speak(leg: Leg, event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void;
  isSpeaking(): boolean;
  /** The model has said everything, so far. */
  done(): void;
  /** The leg has reached a mark. Returns whether the whole reply has been heard, which ends it. */
  reached(mark: string): boolean;
  /** Ends the reply where it is. Returns how much of it was heard, in milliseconds; null without a reply. */
  stop(): number | null;
  /** The leg plays again what is queued. */
  continues(leg: Leg): void;
  /** When everything that is queued will have been heard; null without a reply. */
  queuedUntil(): number | null;
  /** How many characters of the current reply there are. */
  offset(): number;
  /** Reports the words that have been heard so far, for captions. */
  report(): void;
}

/** @param measured called with the figures of each answer that was heard */
export function agentOf(
  clock: CallClock,
  said: SaidInOrder,
  captioned: Captions,
  measured: ((figures: Latency) => void) | undefined,
): Agent {
  let reply: Reply | null = null;
  let replies = 0;
  let queuedUntil = 0;
  /** Latency of the answer that the user waits for. */
  let awaited: LatencyWatch | null = null;
  /** Since when the reply is being heard, and its latency. */
  let audibleSince: number | null = null;
  let latency: Latency | undefined;

  function begin(leg: Leg): Reply {
    queuedUntil = clock.now();
    replies++;
    return replyOn(leg, replies);
  }

  function audible(): void {
    captioned.state("speaking");
    audibleSince = clock.now();
    awaited?.reach("audibleMs", clock.now());
    latency = awaited?.figures();
    if (latency) measured?.(latency);
    awaited = null;
  }

  function finish(text: string): void {
    reply = null;
    said.agent(text, audibleSince, latency);
    audibleSince = null;
    latency = undefined;
    if (text !== "") captioned.tell("agent", text, true);
    captioned.state("listening");
  }

  return {
    awaitedSince: (at) => {
      awaited = at === null ? null : watchLatency(at);
    },
    speak: (leg, event) => {
      reply ??= begin(leg);
      if (event.type === "text") return reply.text(event.text);
      if (reply.isSilent()) awaited?.reach("firstAudioMs", clock.now());
      reply.play(event.audio);
      queuedUntil = Math.max(clock.now(), queuedUntil) + durationMs(event.audio.length);
    },
    isSpeaking: () => reply !== null,
    done: () => reply?.done(),
    reached: (mark) => {
      const what = reply?.reached(mark);
      if (what === "audible") audible();
      if (what !== "played" || !reply) return false;
      finish(reply.whole());
      return true;
    },
    stop: () => {
      if (!reply) return null;
      const { text, ms } = reply.heard();
      finish(text);
      return ms;
    },
    continues: (leg) => {
      queuedUntil = clock.now() + durationMs(leg.queuedSamples());
    },
    queuedUntil: () => reply && queuedUntil,
    offset: () => codePoints(reply?.whole() ?? ""),
    report: () => {
      const text = captioned.isTold("speaking") ? (reply?.heard().text ?? "") : "";
      if (text !== "") captioned.tell("agent", text, false);
    },
  };
}
