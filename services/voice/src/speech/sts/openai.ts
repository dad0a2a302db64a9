import type { JsonObject } from "@parley/shared/json/json-object";
import { resampler } from "@parley/shared/media/resample";
import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { pcmBytes, pcmReader } from "../../audio/wav.ts";
import { type Access, baseLanguage, socketUrl, unreachable } from "../access.ts";
import { bytesIn, objectIn, textIn } from "../json.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenConversation, SpokenTurnEvent, Told } from "../sts.ts";
import { stsSession } from "./session.ts";

/** The only rate of its PCM. */
const OPENAI_SAMPLES_PER_SECOND = 24_000;
const TRANSCRIBED_BY = "gpt-4o-mini-transcribe";

/** Realtime, by developers.openai.com/api/reference/resources/realtime/client-events and …/server-events. */
export function openAiSpeechToSpeech(access: Access): SpeechToSpeech {
  return { converse: (options, event) => converse(access, options, event) };
}

function converse(
  access: Access,
  options: ConverseOptions,
  event: (event: SpokenTurnEvent) => void,
): SpokenConversation {
  const read = pcmReader(OPENAI_SAMPLES_PER_SECOND);
  const toProvider = resampler(SAMPLES_PER_SECOND, OPENAI_SAMPLES_PER_SECOND);
  /** What the agent is saying, which an interruption cuts, and the answer that it belongs to. */
  let item = "";
  let response = "";
  /** The answer that was stopped: its remaining events are not reported. */
  let stopped = "";
  let isSetUp = false;
  let isSpeaking = false;
  /** The user has spoken, and no answer has begun. */
  let owesAnswer = false;
  let isMuted = false;

  const hear = (message: JsonObject) => {
    if (stopped !== "" && textIn(message, "response_id") === stopped) return;
    switch (message.type) {
      case "session.updated":
        isSetUp = true;
        return;
      case "input_audio_buffer.speech_started":
        owesAnswer = true;
        return event({ type: "user_began" });
      case "conversation.item.input_audio_transcription.completed": {
        const text = textIn(message, "transcript").trim();
        return text === "" ? undefined : event({ type: "user_said", text });
      }
      case "response.output_audio.delta": {
        item = textIn(message, "item_id");
        response = textIn(message, "response_id");
        isSpeaking = true;
        owesAnswer = false;
        const bytes = bytesIn(message, "delta");
        return bytes ? event({ type: "audio", audio: read(bytes) }) : undefined;
      }
      case "response.output_audio_transcript.delta":
        return event({ type: "text", text: textIn(message, "delta") });
      case "response.function_call_arguments.done":
        return callTool(message);
      case "response.done":
        return endResponse(objectIn(message, "response"));
      case "error":
        return hearError(textIn(objectIn(message, "error"), "type"));
    }
  };
  const hearError = (type: string) => {
    if (!isSetUp)
      return session.fail(unreachable(access.provider, "it refused the model, voice or tools of the agent"));
    // Most errors leave the session as it is: something was said too late, such as a cut after the end.
    if (type === "server_error") session.fail(unreachable(access.provider, "it reported an error"));
  };
  const callTool = (message: JsonObject) => {
    const callId = textIn(message, "call_id");
    event({ type: "tool_call", callId, name: textIn(message, "name"), arguments: parse(textIn(message, "arguments")) });
  };
  const endResponse = ({ status }: JsonObject) => {
    if (status === "failed") return session.fail(unreachable(access.provider, "it could not answer"));
    isSpeaking = false;
    // A cancelled one was interrupted, and the caller knows.
    if (status !== "cancelled") event({ type: "done" });
  };

  let connections = 0;
  const session = stsSession(access, options.signal, {
    address: () => ({
      url: socketUrl(access, "/realtime", { model: options.model }),
      headers: { authorization: `Bearer ${access.apiKey}` },
    }),
    begin: () => {
      // It accepts messages and audio as soon as it is open.
      queueMicrotask(session.ready);
      connections++;
      // A new session knows neither the previous one's conversation nor that it owes an answer.
      const said = connections > 1 || options.continues ? options.history() : [];
      const asks = owesAnswer && !isMuted && said.at(-1)?.role === "user" ? [{ type: "response.create" }] : [];
      return [sessionUpdate(options, isMuted), ...said.map(asItem), ...asks];
    },
    audio: (pcm) => {
      const bytes = Buffer.from(pcmBytes(toProvider(pcm)));
      return { type: "input_audio_buffer.append", audio: bytes.toString("base64") };
    },
    hear,
    lost: () => {
      item = "";
      if (isSpeaking) event({ type: "done" });
      isSpeaking = false;
    },
    // Refused settings end the first session before it is set up.
    canResume: () => isSetUp,
    failed: (error) => event({ type: "failed", error }),
  });

  return {
    send: session.sendAudio,
    say: (text) =>
      session.send({
        type: "response.create",
        response: { instructions: `Say exactly this, and nothing else: ${text}` },
      }),
    tell: (text, asks = true) => {
      session.send(asItem({ role: "user", text }));
      if (!asks) return;
      owesAnswer = true;
      session.send({ type: "response.create" });
    },
    inform: (text) => session.send(asItem({ role: "system", text })),
    mute: (silenced) => {
      isMuted = silenced;
      const input = { turn_detection: turnDetection(isMuted) };
      session.send({ type: "session.update", session: { type: "realtime", audio: { input } } });
      // An answer may be on its way that nobody has heard yet.
      if (isMuted) session.send({ type: "response.cancel" });
    },
    interrupt: (heardMs) => {
      session.send({ type: "response.cancel" });
      stopped = response;
      isSpeaking = false;
      if (item === "") return;
      const audio_end_ms = Math.max(0, Math.floor(heardMs));
      session.send({ type: "conversation.item.truncate", item_id: item, content_index: 0, audio_end_ms });
      item = "";
    },
    answer: (callId, result, asks) => {
      session.send({
        type: "conversation.item.create",
        item: { type: "function_call_output", call_id: callId, output: result },
      });
      if (asks) session.send({ type: "response.create" });
    },
    ask: () => session.send({ type: "response.create" }),
    close: session.stop,
  };
}

function asItem({ role, text }: Told): object {
  const content = [{ type: role === "assistant" ? "output_text" : "input_text", text }];
  return { type: "conversation.item.create", item: { type: "message", role, content } };
}

/** A muted one still hears and transcribes. */
function turnDetection(isMuted: boolean): object {
  return { type: "semantic_vad", create_response: !isMuted };
}

function sessionUpdate({ prompt, tools, voiceId, language }: ConverseOptions, isMuted: boolean): object {
  const format = { type: "audio/pcm", rate: OPENAI_SAMPLES_PER_SECOND };
  return {
    type: "session.update",
    session: {
      type: "realtime",
      instructions: prompt,
      output_modalities: ["audio"],
      audio: {
        input: {
          format,
          transcription: { model: TRANSCRIBED_BY, ...(language !== undefined && { language: baseLanguage(language) }) },
          turn_detection: turnDetection(isMuted),
        },
        output: { format, ...(voiceId !== undefined && { voice: voiceId }) },
      },
      tools: tools.map((tool) => ({ type: "function", ...tool })),
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
