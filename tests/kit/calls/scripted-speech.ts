import { readWav } from "@parley/dev/stand-ins/speech/wav.ts";
import { wavHeader } from "@parley/shared/media/wav";
import { PHONE_HZ } from "@parley/shared/phone/audio";

export interface ScriptedSpeech {
  /** The `stt` and `tts` of an agent that uses the server. */
  settings: { stt: object; tts: object };
  stop(): Promise<void>;
}

const HZ = 16_000;
const MARK_HZ = 1_000;
const MARK_SECONDS = 0.3;
const FRAME_SECONDS = 0.02;

/**
 * A speech server that hears the same text in any audio, and says any text as a tone, so that many calls cost little.
 * @param seconds of the tone, for each sentence
 * @param hears "marked": hears the text only in `marked` sentences
 */
export function startScriptedSpeech(
  words: string,
  seconds: number,
  hears: "everything" | "marked" = "everything",
): ScriptedSpeech {
  const said = tone(440, seconds, HZ);
  const wav = Buffer.concat([
    wavHeader({ samplesPerSecond: HZ, channels: 1 }, said.byteLength),
    new Uint8Array(said.buffer),
  ]);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/v1/audio/transcriptions": async (request) => {
        const file = (await request.formData()).get("file") as File;
        if (hears === "everything") return Response.json({ text: words });
        const audio = readWav(new Uint8Array(await file.arrayBuffer()));
        return Response.json({ text: audio && isMarked(audio) ? words : "" });
      },
      "/v1/audio/speech": () => new Response(wav, { headers: { "Content-Type": "audio/wav" } }),
    },
  });
  const params = { base_url: `${server.url.origin}/v1` };
  return {
    settings: {
      stt: { provider_name: "CUSTOM_STT", model_name: "scripted", params },
      tts: { provider_name: "CUSTOM_TTS", voice_id: "scripted", params },
    },
    stop: () => server.stop(true),
  };
}

/**
 * A sentence behind a tone, by which `startScriptedSpeech` knows it. A phone whose process has to wait says a sentence with gaps, and
 * Parley then has each part transcribed: only the first one has the tone, so the words are heard once.
 * @param sentence PHONE_HZ samples a second
 */
export function marked(sentence: Int16Array): Int16Array {
  return Int16Array.from([...tone(MARK_HZ, MARK_SECONDS, PHONE_HZ), ...sentence]);
}

/** Whether it has at least half of the mark; the rest may be in the previous part, or lost. */
function isMarked(audio: Int16Array): boolean {
  const length = HZ * FRAME_SECONDS;
  let frames = 0;
  for (let at = 0; at + length <= audio.length; at += length) if (isMark(audio.subarray(at, at + length))) frames++;
  return frames >= MARK_SECONDS / FRAME_SECONDS / 2;
}

/** Whether most of a frame's power is in the mark's tone. */
function isMark(frame: Int16Array): boolean {
  let [power, re, im] = [0, 0, 0];
  for (const [at, sample] of frame.entries()) {
    const angle = (2 * Math.PI * MARK_HZ * at) / HZ;
    power += sample * sample;
    re += sample * Math.cos(angle);
    im += sample * Math.sin(angle);
  }
  const ofTone = (2 * (re * re + im * im)) / frame.length;
  return power / frame.length > 1_000_000 && ofTone > 0.8 * power;
}

function tone(hz: number, seconds: number, samplesPerSecond: number): Int16Array {
  const length = samplesPerSecond * seconds;
  return Int16Array.from({ length }, (_, at) => 8_000 * Math.sin((2 * Math.PI * hz * at) / samplesPerSecond));
}
