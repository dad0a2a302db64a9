import type { JsonObject } from "@parley/shared/json/json-object";
import { type Access, socketUrl } from "../access.ts";
import { numberIn, objectsIn, textIn } from "../json.ts";
import type { SpeechToText } from "../stt.ts";
import { type Heard, socketStream } from "./socket-stream.ts";

/** Universal streaming, by assemblyai.com/docs/streaming/message-sequence and assemblyai.com/docs/api-reference/streaming-api. */
export function assemblyAiSpeechToText(access: Access): SpeechToText {
  const dialect = {
    url: ({ model }: { model: string }) =>
      socketUrl(access, "/v3/ws", { speech_model: model, sample_rate: "16000", encoding: "pcm_s16le" }),
    headers: { authorization: access.apiKey },
    // AssemblyAI refuses messages of less than 50 ms.
    pieceMs: 60,
    finalize: { type: "ForceEndpoint" },
    hear,
  };
  return { endsTurns: true, listen: (options, heard) => socketStream(access, dialect, options, heard) };
}

function hear(message: JsonObject): Heard {
  if ("error" in message || message.type === "Error") return { failed: "it reported an error" };
  if (message.type !== "Turn") return {};
  const words = objectsIn(message, "words");
  const transcript = textIn(message, "transcript");
  if (message.end_of_turn !== true) {
    // `transcript` lacks the words that may still change.
    const spoken = words.map((word) => textIn(word, "text")).join(" ");
    return { partial: spoken.length > transcript.length ? spoken : transcript };
  }
  const endMs = numberIn(words.at(-1) ?? {}, "end");
  return {
    final: transcript,
    endOfTurn: true,
    finalized: true,
    heardSeconds: endMs === null ? null : endMs / 1_000,
  };
}
