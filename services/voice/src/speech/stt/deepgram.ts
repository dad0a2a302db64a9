import type { JsonObject } from "@parley/shared/json/json-object";
import { type Access, socketUrl } from "../access.ts";
import { numberIn, objectIn, objectsIn, textIn } from "../json.ts";
import type { SpeechToText } from "../stt.ts";
import { type Dialect, type Heard, socketStream } from "./socket-stream.ts";

/** Flux ends turns by itself, the others do not. */
export function deepgramSpeechToText(access: Access, model: string): SpeechToText {
  const isFlux = model.startsWith("flux-");
  const dialect = isFlux ? flux(access) : listenV1(access);
  return { endsTurns: isFlux, listen: (options, heard) => socketStream(access, dialect, options, heard) };
}

const AUDIO = { encoding: "linear16", sample_rate: "16000" };

/**
 * Nova, by developers.deepgram.com/reference/speech-to-text/listen-streaming, with Finalize (docs/finalize) and KeepAlive
 * (docs/audio-keep-alive).
 */
function listenV1(access: Access): Dialect {
  return {
    url: ({ model, language }) => {
      const query = { model, language, ...AUDIO, channels: "1", interim_results: "true", punctuate: "true" };
      return socketUrl(access, "/v1/listen", query);
    },
    headers: { authorization: `Token ${access.apiKey}` },
    pieceMs: 20,
    finalize: { type: "Finalize" },
    // Without audio it closes the connection after ten seconds.
    keepAlive: { message: { type: "KeepAlive" }, everyMs: 4_000 },
    setLanguage: () => null,
    hear: hearResults,
  };
}

function hearResults(message: JsonObject): Heard {
  if (message.type !== "Results") return {};
  const [best = {}] = objectsIn(objectIn(message, "channel"), "alternatives");
  const text = textIn(best, "transcript");
  if (message.is_final !== true) return { partial: text };
  const heardSeconds = (numberIn(message, "start") ?? 0) + (numberIn(message, "duration") ?? 0);
  return { final: text, heardSeconds, finalized: message.from_finalize === true };
}

/** Flux, by developers.deepgram.com/docs/flux/state, docs/flux/force-end-turn and docs/flux/configure. */
function flux(access: Access): Dialect {
  return {
    url: ({ model, language }) =>
      socketUrl(access, "/v2/listen", { model, ...AUDIO, language_hint: hint(model, language) }),
    headers: { authorization: `Token ${access.apiKey}` },
    // What Deepgram recommends.
    pieceMs: 80,
    finalize: { type: "ForceEndTurn" },
    setLanguage: (language) => ({ type: "Configure", language_hints: [language] }),
    hear: hearTurn,
  };
}

/** The English model has no languages. */
function hint(model: string, language: string | undefined): string | undefined {
  return model === "flux-general-multi" ? language?.split("-")[0] : undefined;
}

function hearTurn(message: JsonObject): Heard {
  if (message.type === "Error") return { failed: "it reported an error" };
  if (message.type !== "TurnInfo") return {};
  const text = textIn(message, "transcript");
  const heardSeconds = numberIn(message, "audio_window_end");
  if (message.event === "EndOfTurn") return { final: text, endOfTurn: true, finalized: true, heardSeconds };
  // Silence need not be heard again.
  return text === "" ? { heardSeconds } : { partial: text };
}
