import type { GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import { isLonger } from "@parley/shared/text/length";
import { type SpeechSettings, selectSpeechToText, selectTextToSpeech } from "../speech/providers.ts";
import { speakNote } from "./speak.ts";
import { transcribeNote } from "./transcribe.ts";

/** Hears and speaks for text channels, outside of calls. Takes no place of a call. */
export interface SpokenNotes {
  /** @throws ServiceError not_found, forbidden, condition, invalid; upstream_failed or _timeout for the provider */
  transcribe(note: NoteKey & { audio: Uint8Array }, gone: AbortSignal): Promise<string>;
  /** @throws ServiceError as `transcribe` */
  speak(note: NoteKey & { text: string }, gone: AbortSignal): Promise<Uint8Array>;
}

interface NoteKey {
  ownerId: string;
  agentId: string;
}

export interface NotesOptions {
  getSpeech(key: NoteKey): Promise<GetSpeechResponse>;
  speech: SpeechSettings;
}

const AUDIO_BYTES_MAX = 2 * 1024 * 1024;
const TEXT_CHARACTERS_MAX = 4_096;
/** A note is sent faster than it was spoken, so the provider may need a while for its end. */
const PATIENT = { finalizeMs: 30_000, keepMs: 30_000, partialMs: 3_600_000 };
/** Longer than any accepted note takes. */
const WITHIN_MS = 120_000;
const FEW = { what: "voice notes", atOnce: 2, waitingMax: 10 };

export function spokenNotes({ getSpeech, speech }: NotesOptions): SpokenNotes {
  const few = fewAtOnce(FEW);
  return {
    transcribe: (note, gone) => {
      if (note.audio.length > AUDIO_BYTES_MAX) throw invalid("audio", "audio must be at most 2 MiB");
      return few(note.ownerId, gone, async () => {
        const { stt } = await getSpeech(note);
        if (!stt) throw new ServiceError("condition", "Agent has no STT configuration: set stt");
        const hearing = selectSpeechToText(stt, { ...speech, times: { ...PATIENT, ...speech.times } });
        const heard = { audio: note.audio, model: stt.modelName, language: stt.language };
        return inTime(gone, (signal) => transcribeNote(hearing, heard, signal));
      });
    },
    speak: (note, gone) => {
      if (note.text.trim() === "" || isLonger(note.text, TEXT_CHARACTERS_MAX))
        throw invalid("text", `text must be 1 to ${TEXT_CHARACTERS_MAX} characters`);
      return few(note.ownerId, gone, async () => {
        const { tts } = await getSpeech(note);
        if (!tts) throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
        const voice = selectTextToSpeech(tts, speech);
        const { modelName: model, voiceId, language, speed } = tts;
        const options = { model, voiceId, language, speed, params: {} };
        return inTime(gone, (signal) => speakNote(voice, note.text, options, signal));
      });
    },
  };
}

/** @throws ServiceError upstream_timeout when the work takes longer than any provider needs */
async function inTime<T>(gone: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(WITHIN_MS);
  try {
    return await work(AbortSignal.any([gone, late]));
  } catch (error) {
    if (late.aborted && !gone.aborted) throw new ServiceError("upstream_timeout", "The speech provider took too long");
    throw error;
  }
}
