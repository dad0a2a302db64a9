import type { JsonObject } from "@parley/shared/json/json-object";
import { pcmBytes, pcmReader } from "../../audio/wav.ts";
import { type Access, socketUrl } from "../access.ts";
import { bytesIn, objectIn, objectsIn, textIn } from "../json.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenConversation, SpokenTurnEvent, Told } from "../sts.ts";
import { stsSession } from "./session.ts";

/** Samples a second that it speaks; it hears 16,000. */
const GOOGLE_SAMPLES_PER_SECOND = 24_000;
const METHOD = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/** Live, by ai.google.dev/api/live. */
export function googleSpeechToSpeech(access: Access): SpeechToSpeech {
  return { converse: (options, event) => converse(access, options, event) };
}

function converse(
  access: Access,
  options: ConverseOptions,
  event: (event: SpokenTurnEvent) => void,
): SpokenConversation {
  const read = pcmReader(GOOGLE_SAMPLES_PER_SECOND);
  /** Names of the tools whose answers the model waits for; it wants them repeated in the answers. */
  const tools = new Map<string, string>();
  let heard = "";
  /** Set while a reply was stopped here and the model has not learnt it yet. */
  let isMuted = false;
  let isSpeaking = false;
  /** It answers whatever it hears, so it hears nothing while it is not to answer. */
  let hearsNothing = false;
  /** What it is let know once it has said everything: a text would end its reply. */
  let untold: string[] = [];
  /**
   * The handle with which a new connection continues (ai.google.dev/gemini-api/docs/live-session, "Session resumption"); null
   * while it cannot.
   */
  let handle: string | null = null;
  let isEnding = false;

  /** It transcribes piece by piece; the reply shows that the user has finished. */
  const tellHeard = () => {
    const text = heard.trim();
    heard = "";
    if (text !== "") event({ type: "user_said", text });
  };
  const hear = (message: JsonObject) => {
    if ("setupComplete" in message) session.ready();
    if ("toolCall" in message) {
      tellHeard();
      for (const call of objectsIn(objectIn(message, "toolCall"), "functionCalls")) {
        const [callId, name] = [textIn(call, "id"), textIn(call, "name")];
        tools.set(callId, name);
        event({ type: "tool_call", callId, name, arguments: objectIn(call, "args") });
      }
    }
    if ("sessionResumptionUpdate" in message) {
      const newHandle = textIn(objectIn(message, "sessionResumptionUpdate"), "newHandle");
      // While it speaks there is none; the previous one loses the least.
      if (newHandle !== "") handle = newHandle;
      renewIfQuiet();
    }
    if ("goAway" in message) {
      isEnding = true;
      renewIfQuiet();
    }
    hearContent(objectIn(message, "serverContent"));
  };
  /** Before it ends the connection, and not in the middle of a reply; if there is no such moment, it is lost like any other. */
  const renewIfQuiet = () => {
    if (!isEnding || isSpeaking || handle === null) return;
    isEnding = false;
    session.renew();
  };
  const hearContent = (content: JsonObject) => {
    heard += textIn(objectIn(content, "inputTranscription"), "text");
    if (content.interrupted === true) {
      isMuted = false;
      isSpeaking = false;
      event({ type: "user_began" });
    }
    const parts = objectsIn(objectIn(content, "modelTurn"), "parts");
    const said = textIn(objectIn(content, "outputTranscription"), "text");
    if (parts.length > 0 || said !== "") {
      tellHeard();
      isSpeaking = true;
    }
    if (!isMuted) {
      for (const part of parts) {
        const bytes = bytesIn(objectIn(part, "inlineData"), "data");
        if (bytes) event({ type: "audio", audio: read(bytes) });
      }
      if (said !== "") event({ type: "text", text: said });
    }
    if (content.turnComplete === true) {
      tellHeard();
      isSpeaking = false;
      if (!isMuted) event({ type: "done" });
      isMuted = false;
      inform();
      renewIfQuiet();
    }
  };

  const session = stsSession(access, options.signal, {
    address: () => ({
      // The method's name has the version that HTTP addresses end in.
      url: socketUrl({ ...access, baseUrl: access.baseUrl.replace(/\/v1\w*$/, "") }, `/ws/${METHOD}`, {}),
      headers: { "x-goog-api-key": access.apiKey },
    }),
    begin: () => [setup(options, handle)],
    audio: (pcm) => {
      const data = Buffer.from(pcmBytes(pcm)).toString("base64");
      return { realtimeInput: { audio: { data, mimeType: "audio/pcm;rate=16000" } } };
    },
    // It sends its JSON as binary too.
    hear,
    lost: () => {
      if (isSpeaking && !isMuted) event({ type: "done" });
      isSpeaking = false;
      isMuted = false;
      isEnding = false;
      inform();
    },
    canResume: () => handle !== null,
    failed: (error) => event({ type: "failed", error }),
  });

  const tell = (text: string, asks = true) => {
    session.send({ clientContent: { turns: [turnOf({ role: "user", text })], turnComplete: asks } });
  };
  const inform = () => {
    const texts = untold;
    untold = [];
    for (const text of texts) tell(text, false);
  };
  // It must be the first thing after the setup (ai.google.dev/gemini-api/docs/live-guide, "Incremental content updates").
  const said = options.continues ? options.history() : [];
  if (said.length > 0) session.send({ clientContent: { turns: said.map(turnOf), turnComplete: false } });

  return {
    send: (audio) => {
      if (!hearsNothing) session.sendAudio(audio);
    },
    say: (text) => tell(`Say exactly this, and nothing else: ${text}`),
    tell,
    inform: (text) => {
      untold.push(text);
      if (!isSpeaking) inform();
    },
    mute: (silenced) => {
      hearsNothing = silenced;
    },
    // It stops by itself when it hears the user, and cannot be told how much was heard.
    interrupt: () => {
      isMuted = isSpeaking;
    },
    // It continues at once, and stops by itself if the user speaks.
    answer: (callId, result) => {
      const name = tools.get(callId) ?? "";
      tools.delete(callId);
      session.send({ toolResponse: { functionResponses: [{ id: callId, name, response: { result } }] } });
    },
    ask: () => session.send({ clientContent: { turnComplete: true } }),
    close: session.stop,
  };
}

/** It has no system's turns. */
function turnOf({ role, text }: Told): object {
  return { role: role === "assistant" ? "model" : "user", parts: [{ text }] };
}

function setup({ model, prompt, tools, voiceId, language }: ConverseOptions, handle: string | null): object {
  return {
    setup: {
      model: model.startsWith("models/") ? model : `models/${model}`,
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: {
          ...(voiceId !== undefined && { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceId } } }),
          ...(language !== undefined && { languageCode: language }),
        },
      },
      systemInstruction: { parts: [{ text: prompt }] },
      ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      sessionResumption: handle === null ? {} : { handle },
    },
  };
}
