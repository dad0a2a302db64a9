import type { StsConfig, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetSpeechRequest, GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import {
  CallingType,
  ConversationStatus,
  ConversationType,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  type GetCallSetupResponse,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Clock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import { backgroundOf } from "../background/background.ts";
import type { CallRecorder } from "../recording/record-call.ts";
import type { Recordings } from "../recording/recordings.ts";
import type { SpeechToSpeech } from "../speech/sts.ts";
import type { SpeechToText } from "../speech/stt.ts";
import type { TextToSpeech } from "../speech/tts.ts";
import type { CallEnd, CallKey } from "../store/calls.ts";
import { FINALIZE_WAIT_TEST_MS } from "../turn/settings.ts";
import type { VoiceDetector } from "../vad/detector.ts";
import type { CommonParts, EndedTransfer, HeldCall } from "./held-call.ts";
import { holdCall } from "./hold-call.ts";
import type { Latency } from "./latency.ts";
import type { LiveCalls } from "./live-calls.ts";
import { bothTaps, type CallListeners, callListeners, type Listening } from "./operator/listeners.ts";
import { type CallReports, callReports } from "./operator/reports.ts";
import { pipelineAgent } from "./pipeline/agent.ts";
import type { Voice } from "./pipeline/mouth.ts";
import type { CallNews, CallRequest } from "./port.ts";
import { backgroundSettings, linesOf, turnSettings } from "./settings.ts";
import { type StsParts, stsAgent } from "./speech-to-speech/agent.ts";
import { type StsModel, stsModel } from "./speech-to-speech/model.ts";
import { clientCalls } from "./tools/client-calls.ts";
import { type Conversations, type Transcript, transcript, untilAnswered } from "./transcript.ts";
import { type PeopleContext, peopleFor } from "./warm/people.ts";
import type { Ears } from "./warm/utterances.ts";

export interface StartCallOptions
  extends Pick<PeopleContext, "dialPerson" | "denialOf" | "transferring" | "transferred"> {
  conversations: Conversations;
  /** @throws ServiceError not_found or forbidden */
  getSpeech(request: GetSpeechRequest): Promise<GetSpeechResponse>;
  /** The providers of an agent. @throws ServiceError condition, naming what is missing */
  selectSpeech(speech: { stt: SttConfig; tts: TtsConfig }): Speech;
  /** What transcribes for an agent whose model hears and speaks. @throws as `selectSpeech` */
  selectHearing(stt: SttConfig): SpeechToText;
  /** The model of an agent that hears and speaks. @throws as `selectSpeech` */
  selectSpeechToSpeech(sts: StsConfig): SpeechToSpeech;
  detector: VoiceDetector;
  live: LiveCalls;
  recordings: Pick<Recordings, "begin" | "addressOf" | "finish">;
  clock: PassingTime;
  /** The time that all processes share. */
  time: Clock;
  log: Logger;
  /** Fires when this process takes no more calls. */
  stopping: AbortSignal;
  /** Records how a call ended before its conversation is completed. @returns how it ended, if that was noted before */
  recordEnd(call: CallKey, end: CallEnd): Promise<CallEnd>;
  /** Tells the owner what came of a transfer. Never rejects. */
  transferEnded?(call: CallKey, transfer: EndedTransfer): Promise<void>;
  measured?(figures: Latency): void;
  listening: Listening;
}

interface Speech {
  hearing: SpeechToText;
  voice: TextToSpeech;
}

/**
 * Gets what the call needs from its agent.
 * @param conversationId of the call, if it is chosen: once the conversation has begun, what its start webhook says counts too
 * @throws ServiceError when the call cannot be held
 */
export async function findAgent(options: StartCallOptions, request: CallRequest, conversationId?: string) {
  const { ownerId, agentId, dynamicVariables, channel, metadata = {}, latestVersion } = request;
  const draftId = request.draftId ?? undefined;
  const { type, callingType, toMobileNumber, fromMobileNumber } = channelFields(channel);
  const call = { conversationId, type, callingType, toMobileNumber, fromMobileNumber };
  const { user_id: userId } = metadata;
  const setup = await options.conversations.getCallSetup({
    ...{ ownerId, agentId, draftId, ...call, latestVersion },
    agentVersion: request.agentVersion ?? undefined,
    userId: typeof userId === "string" || typeof userId === "number" ? String(userId) : undefined,
    dynamicVariables: dynamicVariables as never,
  });
  const { agentVersion } = setup;
  const speech = await options.getSpeech({ ownerId, agentId, draftId, agentVersion });
  const lines = linesOf(setup);
  if (request.leavesMessage && lines.voicemail === "")
    throw new ServiceError("condition", "Agent has no voicemail message: set call_settings.voicemail_message");
  return {
    setup,
    lines: request.leavesMessage ? lines : { ...lines, voicemail: "" },
    speech: modelsOf(options, setup, speech),
  };
}

type Setup = GetCallSetupResponse;

/**
 * The agent's models: one for everything, or one for each task. Language and voice are those of the setup, where a start webhook may have
 * chosen others.
 * @throws ServiceError condition, naming what is missing
 */
function modelsOf(options: StartCallOptions, setup: Setup, speech: GetSpeechResponse) {
  const { sts, stt, tts } = chosenSpeech(setup, speech);
  if (sts) {
    const ears = stt && earsOf(options, stt);
    return { type: "one" as const, config: sts, sts: options.selectSpeechToSpeech(sts), ears };
  }
  if (!stt) throw new ServiceError("condition", "Agent has no STT configuration: set stt");
  if (!tts) throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
  if (!setup.llm) throw new ServiceError("condition", "Agent has no LLM configuration: set llm");
  if (setup.llmFault) throw new ServiceError("condition", setup.llmFault);
  return { type: "each" as const, stt, tts, ...options.selectSpeech({ stt, tts }) };
}

function chosenSpeech(setup: Setup, { stt, tts, sts }: GetSpeechResponse): GetSpeechResponse {
  const language = (of: { language?: string | undefined } | undefined) => of && { language: of.language };
  return {
    stt: stt && { ...stt, ...language(setup.stt) },
    tts: tts && { ...tts, ...language(setup.tts), ...(setup.tts && { voiceId: setup.tts.voiceId }) },
    sts: sts && { ...sts, ...language(setup.sts), ...(setup.sts && { voiceId: setup.sts.voiceId }) },
  };
}

/** What transcribes two people after a warm transfer; a call that has none of that is held all the same. */
function earsOf({ selectHearing, detector, log }: StartCallOptions, stt: SttConfig): Ears | undefined {
  try {
    return { hearing: selectHearing(stt), listening: listeningWith(stt), detector };
  } catch (err) {
    log.warn({ err }, "an agent's speech recognition cannot be used after warm transfers");
    return undefined;
  }
}

type Agent = Awaited<ReturnType<typeof findAgent>>;

export interface Prepared {
  held: HeldCall;
  /** Whether the agent's start webhook rejects the call. */
  isRejected: boolean;
  reports: CallReports;
  recorder: CallRecorder | null;
  listeners: CallListeners;
}

/** Starts the conversation. @throws ServiceError when the call cannot be held */
export async function prepare(
  options: StartCallOptions,
  asked: CallRequest,
  key: CallKey,
  found: Agent,
): Promise<Prepared> {
  const { conversations, clock, time, log } = options;
  const { lastSequence, isRejected, answered } = await beginConversation(
    options,
    { ...asked, agentVersion: found.setup.agentVersion },
    key,
    found.setup.startWebhookMs,
  );
  const request = answered ?? asked;
  const { setup, lines, speech } = answered
    ? await untilAnswered(clock, () => findAgent(options, answered, key.conversationId), STARTS_WITHIN_MS)
    : found;
  const background = await backgroundOf(backgroundSettings(setup));
  const recorder = setup.recording ? await options.recordings.begin(key, clock) : null;
  const callLog = log.child({ conversation_id: key.conversationId, owner_id: key.ownerId });
  const refused = (error: ServiceError) => held.fail(error.detail);
  const reports = callReports(conversations, key);
  const listeners = callListeners(options.listening, clock, key);
  const { client, tellsTools = false } = request;
  const clients = client && clientCalls({ client, conversations, key, clock, log: callLog });
  const tools = () => ({ clientTools: clients?.areMade() ?? false, tellsTools });
  const said = transcript({ conversations, key, lastSequence, clock, time, tools, refused });
  let told: Promise<void> = Promise.resolve();
  const common = {
    detector: options.detector,
    transcript: said,
    greeting: setup.greeting,
    lines,
    clock,
    log: callLog,
    background,
    recorder: recorder ? bothTaps(recorder, listeners.tap) : listeners.tap,
    ...{ tellsTools, clients },
    watch: (news: CallNews) => {
      reports.news(news);
      request.watch?.(news);
    },
    transferred: (to: string, state: Parameters<CallReports["transfer"]>[1]) => {
      if (state === "begun") request.transferring?.();
      reports.transfer(to, state);
    },
    measured: options.measured,
    transferEnded: (transfer: EndedTransfer) => {
      told = told.then(() => options.transferEnded?.(key, transfer));
    },
  };
  const held =
    speech.type === "one"
      ? oneModel(options, request, { ...key, lastSequence }, setup, speech, common)
      : eachModel(options, request, key, setup, speech, common);
  const ended = held.ended.then(async (over) => {
    listeners.close();
    await Promise.all([said.settled(), clients?.end()]);
    // Before the end of the conversation is told.
    await told;
    return over;
  });
  return { held: { ...held, ended }, recorder, listeners, isRejected, reports };
}

/** Time limit for getting the agent, and for starting the conversation: someone hears ringing, or silence, in the meantime. */
export const STARTS_WITHIN_MS = 5_000;

/** How a call's conversation has begun. */
interface BegunConversation {
  /** Of its messages. */
  lastSequence: number;
  /** The call as its start webhook, or whoever has begun it before, wants it; null if neither has. */
  answered: CallRequest | null;
  isRejected: boolean;
}

/**
 * Begins the conversation, which asks the agent's start webhook.
 * @param startWebhookMs how much longer that may take
 * @throws ServiceError when it cannot begin, or has already ended
 */
export async function beginConversation(
  { conversations, clock }: { conversations: Pick<Conversations, "startConversation">; clock: PassingTime },
  request: CallRequest,
  key: CallKey,
  startWebhookMs: number,
): Promise<BegunConversation> {
  const asked = startRequest(request, key);
  const withinMs = STARTS_WITHIN_MS + startWebhookMs;
  // A repeated request returns the conversation that the first one has started.
  const start = () => conversations.startConversation(asked, { timeoutMs: withinMs });
  const { conversation, lastSequence, isRejected = false } = await untilAnswered(clock, start, withinMs);
  if (conversation && conversation.status !== ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS)
    throw new ServiceError("condition", "The conversation of this call has ended: make another call");
  if (!conversation) return { lastSequence, isRejected, answered: null };
  const { agentId, agentVersion, startWebhook } = conversation;
  const isSame = agentId === request.agentId && agentVersion === (request.agentVersion ?? undefined);
  if (!startWebhook && isSame) return { lastSequence, isRejected, answered: null };
  const draftId = agentId === request.agentId ? request.draftId : null;
  return { lastSequence, isRejected, answered: { ...request, agentId, agentVersion, draftId } };
}

type Models = ReturnType<typeof modelsOf>;

function eachModel(
  options: StartCallOptions,
  request: CallRequest,
  key: CallKey,
  setup: Setup,
  { stt, tts, hearing, voice }: Extract<Models, { type: "each" }>,
  common: CommonParts & { transcript: Transcript },
): HeldCall {
  const { ownerId, agentId, draftId } = request;
  const ears = { hearing, listening: listeningWith(stt), detector: options.detector };
  const parts = {
    ...{ ...common, ...ears },
    voice: voiceWith(voice, tts),
    agentId,
    askModel: async (instruction: string) => (await options.conversations.askModel({ ...key, instruction })).text,
    voiceOf: async (otherId: string, agentVersion: number | undefined) => {
      const ofDraft = otherId === agentId ? (draftId ?? undefined) : undefined;
      const found = await options.getSpeech({ ownerId, agentId: otherId, draftId: ofDraft, agentVersion });
      const theirs = otherId === agentId ? chosenSpeech(setup, found) : found;
      if (!theirs.tts) throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
      const { voice } = options.selectSpeech({ stt, tts: theirs.tts });
      return { voice: voiceWith(voice, theirs.tts), language: theirs.stt?.language ?? theirs.tts.language };
    },
  };
  const settings = turnSettings(setup, {
    ...{ isSpeechToSpeech: false, endsTurns: hearing.endsTurns },
    ...(request.test && { finalizeWaitMs: FINALIZE_WAIT_TEST_MS }),
  });
  const person = peopleFor(options, request, key, common.transcript, ears);
  return holdCall({ ...common, person }, settings, (call) => pipelineAgent(parts, call));
}

function listeningWith({ modelName, language }: SttConfig): Ears["listening"] {
  return { model: modelName, language, params: {} };
}

function voiceWith(tts: TextToSpeech, { modelName, voiceId, language, speed }: TtsConfig): Voice {
  return { tts, options: { model: modelName, voiceId, language, speed, params: {} } };
}

function oneModel(
  options: StartCallOptions,
  request: CallRequest,
  { lastSequence, ...key }: CallKey & { lastSequence: number },
  setup: Setup,
  { config, sts, ears }: Extract<Models, { type: "one" }>,
  common: CommonParts & { transcript: Transcript },
): HeldCall {
  const { conversations, clock } = options;
  const parts: StsParts = {
    ...{ ...common, lastSequence },
    model: stsModel(setup, config, sts),
    modelOf: (agentId) => untilAnswered(clock, () => successor(options, request, key, agentId), STARTS_WITHIN_MS),
    runTool: async ({ toolCallId, name, input, nextVersion }, { messages, offset }, withinMs) => {
      const { clients } = common;
      const sequence = lastSequence + messages + 1;
      const clientTools = clients?.areMade() ?? false;
      const call = { ...key, name, arguments: input as never, sequence, offset, clientTools, toolCallId };
      const run = { ...call, nextAgentVersion: nextVersion };
      const answered = await conversations.runCallTool(run, { timeoutMs: withinMs });
      const { clientCall } = answered;
      const told = clientCall && (await clients?.make(clientCall, clientCall.timeoutMs));
      if (clientCall?.wait && !told)
        throw new ServiceError("unavailable", "The result of a client's call is not known");
      return { ...answered, ...told };
    },
  };
  const settings = turnSettings(setup, { isSpeechToSpeech: true, endsTurns: true });
  const person = peopleFor(options, request, key, common.transcript, ears);
  return holdCall({ ...common, person }, settings, (call) => stsAgent(parts, call));
}

/** The model of an agent that takes over the call. @throws ServiceError if it has none that can be had */
async function successor(
  options: StartCallOptions,
  { ownerId, ...first }: CallRequest,
  { conversationId }: CallKey,
  agentId: string,
): Promise<StsModel> {
  const draftId = agentId === first.agentId ? (first.draftId ?? undefined) : undefined;
  const agent = { ownerId, agentId, draftId };
  const setup = await options.conversations.getCallSetup({ ...agent, dynamicVariables: undefined, conversationId });
  const { sts } = await options.getSpeech({ ...agent, agentVersion: setup.agentVersion });
  if (!sts) throw new ServiceError("condition", "Agent has no speech-to-speech model: set sts");
  return stsModel(setup, sts, options.selectSpeechToSpeech(sts));
}

/** The request that starts a call's conversation, the same for the same call, so that a repeat is recognized. */
export function startRequest(request: CallRequest, key: CallKey): StartConversationRequest {
  const { agentId, channel, dynamicVariables, metadata, isTestCall, test } = request;
  return StartConversationRequest.fromPartial({
    ...key,
    agentId,
    dynamicVariables: dynamicVariables as never,
    metadata: metadata as never,
    isTestCall: isTestCall ?? false,
    draftId: request.draftId ?? undefined,
    ...(test && { test }),
    agentVersion: request.agentVersion ?? undefined,
    ...channelFields(channel),
  });
}

function channelFields(channel: CallRequest["channel"]) {
  switch (channel.type) {
    case "WEB":
      return { type: ConversationType.CONVERSATION_TYPE_WEB };
    case "DAILY":
      return {
        type: ConversationType.CONVERSATION_TYPE_DAILY,
        roomUrl: channel.roomUrl,
        roomName: channel.roomName,
      };
    case "TELEPHONY":
      return {
        type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
        callingType: CallingType[`CALLING_TYPE_${channel.callingType}`],
        toMobileNumber: channel.toMobileNumber,
        fromMobileNumber: channel.fromMobileNumber,
        telephonyProvider: channel.telephonyProvider,
      };
  }
}
