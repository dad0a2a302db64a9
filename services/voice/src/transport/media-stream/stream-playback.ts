import { FRAME_MS, FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { type Playback, playback } from "../playback.ts";

/** Plays through a carrier that buffers what it is sent and reports marks when it has played up to them. */
interface StreamPlayback extends Omit<Playback, "nextFrame"> {
  /** Sends what is due. Called every 20 ms. */
  tick(): void;
  /** The carrier has played up to a mark. */
  marked(name: string): void;
}

interface StreamPlaybackOptions {
  media(frame: Pcm): void;
  mark(name: string): void;
  clear(): void;
  reached(mark: string): void;
  /** The `sending` of a leg's listener. */
  sending(frame: Pcm | null, inMs: number): Pcm | null;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

/** How much audio is sent ahead of time, to cover jitter. */
const LEAD_MS = 200;
/** A mark that the carrier has not reported this long after it was due counts as reached. */
const MARK_LATE_MAX_MS = 2_000;
/** The most delay between us and the carrier that a mark may reveal. */
const LAG_MAX_MS = 1_000;
/** The most audio that the carrier may have, from both. */
const BUFFERED_MAX_FRAMES = (LEAD_MS + LAG_MAX_MS) / FRAME_MS + 1;

export function streamPlayback({ media, mark, clear, reached, sending, now }: StreamPlaybackOptions): StreamPlayback {
  const queue = playback();
  /** The marks, by the names that the carrier knows. */
  const marks = new Map<string, { mark: string; dueAt: number }>();
  let sentMarks = 0;
  /** When the carrier has played everything that was sent. */
  let playsUntil = now();
  /** How much later than estimated the carrier's last mark arrived. */
  let lagMs = 0;
  let cleared = 0;
  let heardMax = 0;

  /** Whether the frames that were sent last were of the queue, or only a sound behind silence. */
  const isSpeech: boolean[] = [];

  /** How much of the queue the carrier has not played. */
  const inBuffer = () => {
    const samples = Math.max(0, Math.round(((playsUntil + lagMs - now()) / 1_000) * SAMPLES_PER_SECOND));
    const frames = Math.ceil(samples / FRAME_SAMPLES);
    const sounds = frames === 0 ? 0 : isSpeech.slice(-frames).filter((speech) => !speech).length;
    return Math.max(0, samples - sounds * FRAME_SAMPLES);
  };
  // What was estimated as heard is not taken back when a mark shows that the carrier is later.
  const heard = () => {
    heardMax = Math.max(heardMax, queue.heardSamples() - cleared - inBuffer());
    return heardMax;
  };

  const send = () => {
    const next = queue.nextFrame();
    const frame = sending(next?.frame ?? null, Math.max(0, playsUntil - now()));
    if (!frame) return false;
    media(frame);
    playsUntil = Math.max(playsUntil, now()) + FRAME_MS;
    if (isSpeech.push(next !== null) > BUFFERED_MAX_FRAMES) isSpeech.shift();
    for (const name of next?.reached ?? []) {
      const sent = String(++sentMarks);
      marks.set(sent, { mark: name, dueAt: playsUntil });
      mark(sent);
    }
    return true;
  };

  /** Marks are reached in order, whatever the carrier reports. */
  const reachUpTo = (name: string) => {
    for (const [sent, { mark: given }] of marks) {
      marks.delete(sent);
      reached(given);
      if (sent === name) return;
    }
  };

  return {
    play: queue.play,
    mark: queue.mark,
    clear: () => {
      const lost = queue.heardSamples() - cleared - heard();
      if (lost > 0 || marks.size > 0) clear();
      queue.clear();
      // The carrier reports the marks that it drops too.
      marks.clear();
      cleared += lost;
      playsUntil = now();
    },
    heardSamples: heard,
    queuedSamples: () => queue.queuedSamples() + queue.heardSamples() - cleared - heard(),
    tick: () => {
      while (playsUntil - now() < LEAD_MS && send());
      const late = [...marks].findLast(([, { dueAt }]) => now() - dueAt > MARK_LATE_MAX_MS);
      if (late) reachUpTo(late[0]);
    },
    marked: (name) => {
      const known = marks.get(name);
      if (!known) return;
      const lateMs = now() - known.dueAt;
      if (lateMs < 0) playsUntil += lateMs;
      lagMs = Math.min(LAG_MAX_MS, Math.max(0, lateMs));
      reachUpTo(name);
    },
  };
}
