import type { VoiceEvent } from "./detector.ts";

/** How the probabilities of windows become speech that begins and ends. */
interface VoiceActivity {
  isSpeech: boolean;
  /** The number of consecutive windows that contradict it. */
  contrary: number;
  /** How loud the room is without a voice; null until a window without one has been heard. */
  room: number | null;
  /** Milliseconds since it was louder than the room, and for how long it was until then. */
  quietMs: number;
  loudMs: number;
}

interface JudgedWindow {
  /** The probability that someone speaks. */
  probability: number;
  /** The root mean square of each part of the window, in order. */
  loudness: readonly number[];
}

export const SILENT: VoiceActivity = {
  isSpeech: false,
  contrary: 0,
  room: null,
  quietMs: Number.POSITIVE_INFINITY,
  loudMs: 0,
};

/** Milliseconds of one window: 512 samples, which is what Silero was trained on. */
export const WINDOW_MS = 32;

// Between the two, speech continues and silence stays: words have quiet parts.
const SPEECH_FROM = 0.5;
const SILENCE_BELOW = 0.35;
/** Shorter sounds, such as clicks, are not speech. */
const WINDOWS_TO_BEGIN = 2;
/** Shorter gaps, such as a stop in a word ("p", "t"), are not silence. */
const WINDOWS_TO_END = 4;

/** The probability below which a window has no voice. */
const ROOM_BELOW = 0.1;
const ROOM_FOLLOWS = 0.05;
/** A sound counts as louder than the room from 10 dB above it. */
const LOUD_FACTOR = 3;
/** The level of a perfectly silent line, such as a muted microphone. */
const ROOM_MIN = 10;
/** A voice pulses: between two pulses it is not quiet. */
const PULSE_MS = 40;
/** By more, Silero does not miss the beginning of a voice, nor keep hearing one that has ended. */
const MISSED_MAX_MS = 96;
const LINGERS_MAX_MS = 320;

/** Judges the next window. A pure function. */
export function judgeWindow(
  before: VoiceActivity,
  window: JudgedWindow,
): { activity: VoiceActivity; event: VoiceEvent | null } {
  const { isSpeech, contrary } = before;
  const { probability } = window;
  const room = roomOf(before, window);
  const heard = { room, ...loudnessOf({ ...before, room }, window) };
  const contradicts = isSpeech ? probability < SILENCE_BELOW : probability >= SPEECH_FROM;
  if (!contradicts) return { activity: { isSpeech, contrary: 0, ...heard }, event: null };
  const windows = contrary + 1;
  if (windows < (isSpeech ? WINDOWS_TO_END : WINDOWS_TO_BEGIN)) {
    return { activity: { isSpeech, contrary: windows, ...heard }, event: null };
  }
  const activity = { isSpeech: !isSpeech, contrary: 0, ...heard };
  const surelyMs = windows * WINDOW_MS;
  // Silero hears a voice from its first or second window on, and for up to 200 ms after its end: loudness is exact, where a voice
  // is louder than the room and the room is not loud itself.
  const exactMs = isSpeech ? heard.quietMs : heard.loudMs + heard.quietMs;
  const isExact = exactMs >= surelyMs && exactMs <= surelyMs + (isSpeech ? LINGERS_MAX_MS : MISSED_MAX_MS);
  const type = isSpeech ? "speech_ended" : "speech_began";
  return { activity, event: { type, agoMs: isExact ? exactMs : surelyMs } };
}

/** Follows a room that becomes louder slowly, because that may be a voice, and one that becomes quieter at once. */
function roomOf({ isSpeech, room }: VoiceActivity, { probability, loudness }: JudgedWindow): number | null {
  if (isSpeech || probability >= ROOM_BELOW) return room;
  const now = Math.max(ROOM_MIN, ...loudness);
  return room === null || now < room ? now : room + ROOM_FOLLOWS * (now - room);
}

function loudnessOf(
  { room, quietMs, loudMs }: VoiceActivity,
  { loudness }: JudgedWindow,
): Pick<VoiceActivity, "quietMs" | "loudMs"> {
  const partMs = WINDOW_MS / loudness.length;
  const heard = { quietMs, loudMs };
  for (const part of loudness) {
    if (room !== null && part <= LOUD_FACTOR * room) heard.quietMs += partMs;
    else
      Object.assign(heard, {
        quietMs: 0,
        loudMs: heard.quietMs > PULSE_MS ? partMs : heard.loudMs + heard.quietMs + partMs,
      });
  }
  return heard;
}
