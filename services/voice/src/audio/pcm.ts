/** Audio inside the voice service: one channel of signed 16-bit samples, 16,000 a second, whatever a transport or a provider uses. */
export type Pcm = Int16Array;

export const SAMPLES_PER_SECOND = 16_000;

/** What transports send and receive at once. */
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (SAMPLES_PER_SECOND / 1_000) * FRAME_MS;

/** A frame of silence, which nobody may change. */
export const SILENT_FRAME: Pcm = new Int16Array(FRAME_SAMPLES);

/** Milliseconds of audio. */
export function durationMs(samples: number): number {
  return (samples / SAMPLES_PER_SECOND) * 1_000;
}

/** Pieces of audio in one. @param samples of all pieces */
export function joined(pieces: readonly Pcm[], samples: number): Pcm {
  const audio = new Int16Array(samples);
  let at = 0;
  for (const piece of pieces) {
    audio.set(piece, at);
    at += piece.length;
  }
  return audio;
}

export function rootMeanSquare(audio: Pcm): number {
  let sum = 0;
  for (const sample of audio) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, audio.length));
}
