import { ServiceError } from "@parley/shared/errors";
import { OggError, readOggOpus, withoutLead } from "../audio/ogg.ts";
import { opus } from "../audio/opus.ts";
import { durationMs, joined, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import type { SpeechToText } from "../speech/stt.ts";

/** The longest voice note that is transcribed: nobody expects a chat to answer a longer one. */
const DURATION_MS_MAX = 10 * 60_000;
/** The size of a piece: several frames of 20 ms. */
const PIECE_SAMPLES = SAMPLES_PER_SECOND / 5;
/** A provider that ends turns by itself may end an earlier one after it was asked for the end: there is more until it is silent. */
const QUIET_MS = 1_000;
/** The same while it is in the middle of a turn. */
const QUIET_SPEAKING_MS = 5_000;
/** Between pieces: twenty times as fast as it was spoken, which leaves a provider's connection time to take it. */
const PIECE_MS = 10;

interface VoiceNote {
  /** An Ogg file of Opus. */
  audio: Uint8Array;
  model: string;
  language: string | undefined;
}

/**
 * The words of a voice note; empty if there are none. Waits for as long as the provider does.
 * @throws ServiceError condition for audio that is no such file or is too long; what the provider fails with
 */
export async function transcribeNote(hearing: SpeechToText, note: VoiceNote, gone: AbortSignal): Promise<string> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const finals: string[] = [];
  let newest = { at: 0, isPartial: false };
  const { promise: finalized, resolve, reject } = Promise.withResolvers<void>();
  // Nobody may wait for it yet when the provider fails.
  finalized.catch(() => {});
  const stream = hearing.listen({ model: note.model, language: note.language, params: {}, signal }, (event) => {
    if (event.type === "final") finals.push(event.text.trim());
    if (event.type === "partial" || event.type === "final")
      newest = { at: performance.now(), isPartial: event.type === "partial" && event.text !== "" };
    if (event.type === "finalized") resolve();
    if (event.type === "failed") reject(event.error);
  });
  const leave = () => reject(gone.reason);
  gone.addEventListener("abort", leave, { once: true });
  try {
    for (const piece of piecesOf(note.audio)) {
      gone.throwIfAborted();
      stream.send(piece);
      await Bun.sleep(PIECE_MS);
    }
    stream.finalize();
    await finalized;
    const quietIn = () => newest.at + (newest.isPartial ? QUIET_SPEAKING_MS : QUIET_MS) - performance.now();
    while (hearing.endsTurns && quietIn() > 0) {
      await Bun.sleep(Math.min(quietIn(), QUIET_MS));
      gone.throwIfAborted();
    }
    return finals.filter((text) => text !== "").join(" ");
  } catch (error) {
    if (error instanceof OggError) throw new ServiceError("condition", `The voice note is ${error.message}`);
    throw error;
  } finally {
    gone.removeEventListener("abort", leave);
    stream.close();
    over.abort();
  }
}

/** Decoded as it is sent: a note of some minutes is twenty times as large once decoded. */
function* piecesOf(file: Uint8Array): Generator<Pcm> {
  const { leadSeconds, packets } = readOggOpus(file);
  const skip = withoutLead(Math.round(leadSeconds * SAMPLES_PER_SECOND));
  const decoder = opus();
  let waiting: Pcm[] = [];
  let samples = 0;
  let sentSamples = 0;
  for (const packet of packets) {
    const audio = skip(decoded(decoder, packet));
    waiting.push(audio);
    samples += audio.length;
    if (samples < PIECE_SAMPLES) continue;
    sentSamples += samples;
    if (durationMs(sentSamples) > DURATION_MS_MAX)
      throw new ServiceError("condition", `The voice note is longer than ${DURATION_MS_MAX / 60_000} minutes`);
    yield joined(waiting, samples);
    waiting = [];
    samples = 0;
  }
  if (samples > 0) yield joined(waiting, samples);
}

function decoded(decoder: ReturnType<typeof opus>, packet: Uint8Array): Pcm {
  try {
    // A copy, because the decoder may use its memory for the next packet.
    return packet.length === 0 ? new Int16Array() : decoder.decode(packet).slice();
  } catch {
    throw new OggError("an Ogg file with invalid Opus packets");
  }
}
