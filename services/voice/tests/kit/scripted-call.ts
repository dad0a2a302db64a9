import { type Clock, systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import { listeningOver } from "../../src/call/operator/listeners.ts";
import type { CallNews, CallRequest } from "../../src/call/port.ts";
import type { StartCallOptions } from "../../src/call/prepare-call.ts";
import { callHolder } from "../../src/call/start-call.ts";
import { denialOf } from "../../src/outbound/denied-numbers.ts";
import type { SpeechToSpeech } from "../../src/speech/sts.ts";
import type { FarEnd, LegListener } from "../../src/transport/leg.ts";
import type { VoiceDetector } from "../../src/vad/detector.ts";
import { OPTIONS } from "../webrtc/connected.ts";
import { type FakeConversations, fakeConversations } from "./fake-conversations.ts";
import { type FakeTime, fakeTime, settle } from "./fake-time.ts";
import { type ScriptedLeg, type ScriptedTransfer, scriptedLeg } from "./scripted-leg.ts";
import { scriptedDetector, scriptedHearing, scriptedVoice } from "./scripted-speech.ts";
import { scriptedSts } from "./scripted-sts.ts";

export const REQUEST: CallRequest = { ownerId: "own_1", agentId: "agt_1", channel: { type: "WEB" } };
const SPEECH = {
  stt: { providerName: "CUSTOM_STT", modelName: "m", language: "en", endpoint: undefined },
  tts: {
    providerName: "CUSTOM_TTS",
    modelName: "m",
    language: "en",
    voiceId: "v",
    speed: undefined,
    endpoint: undefined,
  },
  sts: undefined,
};

const SPANISH = { ...SPEECH.tts, language: "es" };
const STS = { providerName: "OPENAI", modelName: "m", language: "en", voiceId: "v", params: {} };

export interface Given {
  /** The model of an agent with speech to speech. */
  sts?: SpeechToSpeech;
  conversations?: FakeConversations;
  hearing?: ReturnType<typeof scriptedHearing>;
  voice?: ReturnType<typeof scriptedVoice>;
  connect?: (signal: AbortSignal, reachedBy: (farEnd: FarEnd) => Promise<void>) => Promise<void>;
  time?: FakeTime;
  /** The clock that all processes share. */
  sharedTime?: Clock;
  live?: Live;
  /** The voice of the agent `agt_2`; null: it has none. */
  otherVoice?: ReturnType<typeof scriptedVoice> | null;
  transfer?: ScriptedTransfer;
  request?: Partial<CallRequest>;
  recordings?: StartCallOptions["recordings"];
  dialPerson?: StartCallOptions["dialPerson"];
}

type Live = ReturnType<typeof newLive>;
export const newLive = () => ({ taken: 0, released: 0, abandoned: 0 });

/** What holds calls, with everything around it scripted. */
export function scriptedHolder(given: Omit<Given, "time"> & { clock: PassingTime; detector?: VoiceDetector }) {
  const conversations = given.conversations ?? fakeConversations();
  const hearing = given.hearing ?? scriptedHearing();
  const voice = given.voice ?? scriptedVoice();
  const live = given.live ?? newLive();
  const stopping = new AbortController();
  const farEnds: (FarEnd | null)[] = [];
  const transfers: string[] = [];
  const all = callHolder({
    conversations,
    getSpeech: async ({ agentId }) => {
      if (agentId === "agt_2") return { ...SPEECH, stt: undefined, tts: given.otherVoice ? SPANISH : undefined };
      return given.sts ? { ...SPEECH, sts: STS } : SPEECH;
    },
    selectSpeech: ({ tts }) => ({ hearing, voice: (tts === SPANISH && given.otherVoice) || voice }),
    selectHearing: () => hearing,
    selectSpeechToSpeech: () => given.sts ?? scriptedSts(),
    detector: given.detector ?? scriptedDetector(),
    live: {
      take: async (_call, farEnd) => {
        live.taken++;
        if (farEnd) farEnds.push(farEnd);
      },
      checkPlace: async () => {},
      connected: async (_call, farEnd) => void farEnds.push(farEnd),
      reachedBy: async (_call, farEnd) => void farEnds.push(farEnd),
      release: async () => void live.released++,
      abandon: async () => void live.abandoned++,
      stop: async () => {},
    },
    recordings: given.recordings ?? { begin: async () => null, addressOf: async () => null, finish: async () => {} },
    clock: given.clock,
    time: given.sharedTime ?? systemClock,
    log: silentLogger,
    stopping: stopping.signal,
    recordEnd: async (_call, end) => end,
    transferEnded: async (_call, { mode, outcome, to }) => {
      const isLate = conversations.completed.length > 0;
      transfers.push(`${mode} ${outcome} ${to}${isLate ? " after the end" : ""}`);
    },
    denialOf: (number) => denialOf(number, []),
    listening: listeningOver(OPTIONS),
    ...(given.dialPerson && { dialPerson: given.dialPerson }),
  });
  return {
    all,
    conversations,
    hearing,
    voice,
    live,
    stopping,
    /** How another process could have hung up the call, in turn. */
    farEnds,
    /** What the owner is told of transfers. */
    transfers,
  };
}

/** A call with everything around it scripted. */
export async function newCall(given: Given = {}) {
  const time = given.time ?? fakeTime();
  const detector = scriptedDetector();
  const { all, conversations, hearing, ...scripted } = scriptedHolder({ ...given, clock: time, detector });
  const news: CallNews[] = [];
  let leg = null as ScriptedLeg | null;
  let listenerOf = null as LegListener | null;
  const underWay = await all.start(
    { ...REQUEST, ...given.request, watch: (each) => news.push(each) },
    async (listener, signal, reachedBy) => {
      await given.connect?.(signal, reachedBy);
      leg = scriptedLeg(time, listener, given.transfer);
      listenerOf = listener;
      return leg;
    },
  );
  await settle();
  return {
    ...underWay,
    ...scripted,
    all,
    time,
    conversations,
    hearing,
    news,
    leg: leg as unknown as ScriptedLeg,
    speaks: (text: string) => {
      detector.report({ type: "speech_began", agoMs: 0 });
      hearing.report({ type: "partial", text });
    },
    falls: (text: string) => {
      detector.report({ type: "speech_ended", agoMs: 0 });
      hearing.report({ type: "final", text });
    },
    began: () => detector.report({ type: "speech_began", agoMs: 0 }),
    stopped: () => detector.report({ type: "speech_ended", agoMs: 0 }),
    async asks(text: string) {
      this.speaks(text);
      await time.pass(800);
      this.falls(text);
      await time.pass(600);
    },
    listener: () => listenerOf as LegListener,
    presses: (key: string) => listenerOf?.pressed(key),
    machine: (told: "machine_answered" | "machine_ready") =>
      all.signal({ ownerId: REQUEST.ownerId, conversationId: underWay.conversationId }, told),
    leaves: async () => {
      listenerOf?.ended("hung_up");
      await settle();
    },
  };
}
