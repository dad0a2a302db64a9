import type { TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { TestLine } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { NOISES } from "@parley/shared/domain/tests";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import type { Pcm } from "../audio/pcm.ts";
import { spokenSentence } from "../speech/spoken-sentence.ts";
import type { TextToSpeech } from "../speech/tts.ts";
import { inNoise, isNoise } from "./noise.ts";

/** A line that can be said at once. */
export interface Line {
  /** Empty if it only presses keys. */
  audio: Pcm;
  /** Begins so long after the reply to the line before began to be heard; null: when the agent has finished. */
  interruptAtMs: number | null;
  /** Pressed after the audio; may be empty. */
  keys: string;
}

export interface LineVoice {
  /** The operator's voice of tests' users. */
  tts: TtsConfig | undefined;
  /** @throws ServiceError condition when its provider has no credential */
  voiceOf(tts: TtsConfig): TextToSpeech;
}

const TEXT_CHARACTERS_MAX = 4_000;
/** Longer than anybody takes for these. */
const SECONDS_MAX = 600;
const KEYS = /^[0-9*#w]{1,32}$/;
const INTERRUPT_MS_MAX = 60_000;
const SPOKEN_WITHIN_MS = 60_000;

/** @throws ServiceError condition if this installation has no voice for tests */
export function lineVoice({ tts, voiceOf }: LineVoice): (text: string, signal: AbortSignal) => Promise<Pcm> {
  if (!tts) throw new ServiceError("condition", "There is no voice for tests: the operator has to set PARLEY_TEST_TTS");
  const voice = voiceOf(tts);
  return async (text, signal) => {
    const late = AbortSignal.timeout(SPOKEN_WITHIN_MS);
    try {
      return trimmed(await spokenSentence(voice, tts, text, SECONDS_MAX, AbortSignal.any([signal, late])));
    } catch (error) {
      if (late.aborted && !signal.aborted)
        throw new ServiceError("upstream_timeout", "The voice for tests (PARLEY_TEST_TTS) took too long");
      throw error;
    }
  };
}

/** @throws ServiceError invalid for a line that breaks a rule, and as `speak` does */
export async function readyLine(
  { text, noise, interruptAtMs, dtmf = "" }: TestLine,
  speak: (text: string) => Promise<Pcm>,
): Promise<Line> {
  const isSilent = text.trim() === "";
  if (isLonger(text, TEXT_CHARACTERS_MAX))
    throw invalid("line.text", `text must be at most ${TEXT_CHARACTERS_MAX} characters`);
  if (isSilent && dtmf === "") throw invalid("line.text", "A line must have a text or keys");
  if (dtmf !== "" && !KEYS.test(dtmf)) throw invalid("line.dtmf", "dtmf must be 1 to 32 of 0-9, *, # and w");
  if (interruptAtMs !== undefined && (interruptAtMs < 0 || interruptAtMs > INTERRUPT_MS_MAX))
    throw invalid("line.interrupt_at_ms", `interrupt_at_ms must be 0 to ${INTERRUPT_MS_MAX}`);
  if (noise !== undefined && !isNoise(noise)) throw invalid("line.noise", `noise must be ${NOISES.join(" or ")}`);
  const voice = isSilent ? new Int16Array() : await speak(text);
  const audio = noise === undefined ? voice : await inNoise(noise, voice);
  return { audio, interruptAtMs: interruptAtMs ?? null, keys: dtmf };
}

/** Quieter samples are the silence before or behind what a voice says. */
const SOUND_FROM = 200;

/** Without silence at both ends, so that a line begins and ends when it is said. */
function trimmed(audio: Pcm): Pcm {
  const isSound = (sample: number) => Math.abs(sample) >= SOUND_FROM;
  const first = audio.findIndex(isSound);
  return first < 0 ? new Int16Array() : audio.slice(first, audio.findLastIndex(isSound) + 1);
}
