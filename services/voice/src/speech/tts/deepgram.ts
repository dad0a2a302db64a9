import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { pcmReader } from "../../audio/wav.ts";
import { type Access, socketUrl } from "../access.ts";
import type { SpeakOptions, TextToSpeech } from "../tts.ts";
import { reply } from "./reply.ts";
import { endingInSpace, type SpeakerDialect, socketSpeaker } from "./socket-speaker.ts";

const AUDIO = { encoding: "linear16", sample_rate: String(SAMPLES_PER_SECOND) };

/** Aura and Flux; a voice's name says which. */
export function deepgramTextToSpeech(access: Access): TextToSpeech {
  const dialectOf = (options: SpeakOptions) => (options.voiceId.startsWith("flux-") ? flux : aura)(access, options);
  return {
    speak: (options, spoken) =>
      reply(access, (events) => socketSpeaker(access, dialectOf(options), events), options, spoken),
  };
}

/** Deepgram accepts twenty flushes a minute. */
const FLUSHES_MAX = 15;

/**
 * By developers.deepgram.com/reference/text-to-speech/speak-streaming and docs/tts-ws-flush. A flush after a piece makes it spoken at once.
 */
function aura(access: Access, { voiceId, speed }: SpeakOptions): SpeakerDialect {
  const read = pcmReader(SAMPLES_PER_SECOND);
  /** Characters up to each flush that has not been answered, and since the last one. */
  const flushed: number[] = [];
  let unflushed = 0;
  let flushes = 0;
  let characters = 0;
  let hasEnded = false;
  const flush = () => {
    flushes++;
    flushed.push(unflushed);
    unflushed = 0;
    return [{ type: "Flush" }];
  };
  return {
    url: socketUrl(access, "/v1/speak", {
      model: voiceId,
      ...AUDIO,
      speed: speed === undefined ? undefined : String(speed),
    }),
    headers: { authorization: `Token ${access.apiKey}` },
    say: (text) => {
      unflushed += text.length;
      return [{ type: "Speak", text: endingInSpace(text) }, ...(flushes < FLUSHES_MAX ? flush() : [])];
    },
    end: () => {
      hasEnded = true;
      return flush();
    },
    cancel: { type: "Clear" },
    message: ({ type }, events) => {
      if (type === "Error") return events.lost("it reported an error");
      if (type !== "Flushed") return;
      characters += flushed.shift() ?? 0;
      events.spoken(characters);
      if (hasEnded && flushed.length === 0) events.done();
    },
    bytes: (data, events) => events.audio(read(data)),
  };
}

/** By developers.deepgram.com/docs/flux-tts/client-messages and docs/flux-tts/server-messages: one turn, ended by its flush. */
function flux(access: Access, { voiceId, speed }: SpeakOptions): SpeakerDialect {
  const read = pcmReader(SAMPLES_PER_SECOND);
  return {
    url: socketUrl(access, "/v2/speak", {
      model: voiceId,
      ...AUDIO,
      speed: speed === undefined ? undefined : String(speed),
    }),
    headers: { authorization: `Token ${access.apiKey}` },
    say: (text) => [{ type: "Speak", text: endingInSpace(text) }],
    end: () => [{ type: "Flush" }],
    message: ({ type }, events) => {
      if (type === "Error") return events.lost("it reported an error");
      // All audio of the turn has arrived.
      if (type === "SpeechMetadata") events.done();
    },
    bytes: (data, events) => events.audio(read(data)),
  };
}
