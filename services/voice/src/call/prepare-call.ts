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
import { backgroundOf } from "../background/background.ts";
import type { CallRecorder } from "../recording/record-call.ts";
import type { Recordings } from "../recording/recordings.ts";
import type { SpeechToSpeech } from "../speech/sts.ts";
import type { SpeechToText } from "../speech/stt.ts";
import type { TextToSpeech } from "../speech/tts.ts";
import type { CallEnd, CallKey } from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";
import type { VoiceDetector } from "../vad/detector.ts";
import type { CallClock } from "./call-clock.ts";
import type { CommonParts, HeldCall } from "./held-call.ts";
import { holdCall } from "./hold-call.ts";
import type { Latency } from "./latency.ts";
import type { LiveCalls } from "./live-calls.ts";
import { pipelineAgent } from "./pipeline/agent.ts";
import type { Voice } from "./pipeline/mouth.ts";
import type { CallRequest, Connect } from "./port.ts";
import { backgroundSettings, linesOf, turnSettings } from "./settings.ts";
import { type StsParts, stsAgent } from "./speech-to-speech/agent.ts";
import { rulesOf } from "./speech-to-speech/tools.ts";
import { clientCalls } from "./tools/client-calls.ts";
import { type Conversations, type Transcript, transcript, untilAnswered } from "./transcript.ts";
import { checkTransfer } from "./transfer.ts";
import type { Ears } from "./warm/utterances.ts";

export interface StartCallOptions {
  conversations: Conversations;
  /** @throws ServiceError not_found or forbidden */
  getSpeech(request: GetSpeechRequest): Promise<GetSpeechResponse>;
  /** The providers of an agent. @throws ServiceError condition, naming what is missing */
  selectSpeech(speech: { stt: SttConfig; tts: TtsConfig }): Speech;
  /** The model of an agent that hears and speaks. @throws as `selectSpeech` */
  selectSpeechToSpeech(sts: StsConfig): SpeechToSpeech;
  detector: VoiceDetector;
  live: LiveCalls;
  recordings: Pick<Recordings, "begin" | "addressOf" | "finish">;
  clock: CallClock;
  /** The time that all processes share. */
  time: Clock;
  log: Logger;
  /** Fires when this process takes no more calls. */
  stopping: AbortSignal;
  /** Records how a call ended before its conversation is completed. @returns how it ended, if that was noted before */
  recordEnd(call: CallKey, end: CallEnd): Promise<CallEnd>;
  /** Why no call may be connected to a number in E.164 form; null if one may. */
  denialOf(mobileNumber: string): string | null;
  /** Counts a transfer; absent: none are limited. @throws ServiceError condition if the owner's policy does not allow it */
  transferring?(ownerId: string, mobileNumber: string): Promise<void>;
  measured?(figures: Latency): void;
  /** Calls a person for the user of a call; absent: nobody can be called. */
  dialPerson?: DialPerson;
}

/**
 * Calls a person from a number of the owner's.
 * @param from our number in the user's call; undefined if that is no telephone call
 * @throws NotConnected, ServiceError
 */
export type DialPerson = (
  call: { ownerId: string; from: string | undefined; to: string },
  ...connect: Parameters<Connect>
) => ReturnType<Connect>;

export interface Speech {
  hearing: SpeechToText;
  voice: TextToSpeech;
}

/** Gets what the call needs from its agent. @throws ServiceError when the call cannot be held */
export async function findAgent(options: StartCallOptions, request: CallRequest) {
  const { ownerId, agentId, dynamicVariables } = request;
  const draftId = request.draftId ?? undefined;
  const [setup, speech] = await Promise.all([
    options.conversations.getCallSetup({ ownerId, agentId, dynamicVariables: dynamicVariables as never, draftId }),
    options.getSpeech({ ownerId, agentId, draftId }),
  ]);
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

/** The agent's models: one for everything, or one for each task. @throws ServiceError condition, naming what is missing */
function modelsOf(options: StartCallOptions, setup: Setup, { stt, tts, sts }: GetSpeechResponse) {
  if (sts) return { type: "one" as const, config: sts, sts: options.selectSpeechToSpeech(sts) };
  if (!stt) throw new ServiceError("condition", "Agent has no STT configuration: set stt");
  if (!tts) throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
  if (!setup.llm) throw new ServiceError("condition", "Agent has no LLM configuration: set llm");
  if (setup.llmFault) throw new ServiceError("condition", setup.llmFault);
  return { type: "each" as const, stt, tts, ...options.selectSpeech({ stt, tts }) };
}

export type Agent = Awaited<ReturnType<typeof findAgent>>;

export interface Prepared {
  held: HeldCall;
  recorder: CallRecorder | null;
}

/** Starts the conversation. @throws ServiceError when the call cannot be held */
export async function prepare(
  options: StartCallOptions,
  request: CallRequest,
  key: CallKey,
  { setup, lines, speech }: Agent,
): Promise<Prepared> {
  const { conversations, clock, time, log } = options;
  const lastSequence = await startConversation(options, request, key);
  const background = await backgroundOf(backgroundSettings(setup));
  const recorder = setup.recording ? await options.recordings.begin(key, clock) : null;
  const callLog = log.child({ conversation_id: key.conversationId, owner_id: key.ownerId });
  const refused = (error: ServiceError) => held.fail(error.detail);
  const { client, tellsTools = false } = request;
  const clients = client && clientCalls({ client, conversations, key, clock, log: callLog });
  const tools = () => ({ clientTools: clients?.areMade() ?? false, tellsTools });
  const said = transcript({ conversations, key, lastSequence, clock, time, tools, refused });
  const common = {
    detector: options.detector,
    transcript: said,
    greeting: setup.greeting,
    lines,
    clock,
    log: callLog,
    background,
    recorder,
    ...{ watch: request.watch, tellsTools, clients },
    measured: options.measured,
  };
  const held =
    speech.type === "one"
      ? oneModel(options, { ...key, lastSequence }, setup, speech, common)
      : eachModel(options, request, setup, speech, common, (ears) => personOf(options, request, key, said, ears));
  const ended = held.ended.then(async (over) => {
    await Promise.all([said.settled(), clients?.end()]);
    return over;
  });
  return { held: { ...held, ended }, recorder };
}

/** Time limit for getting the agent, and for starting the conversation: someone hears ringing, or silence, in the meantime. */
export const STARTS_WITHIN_MS = 5_000;

/** Returns the last sequence of its messages. @throws ServiceError when it cannot be started, or has already ended */
async function startConversation(
  { conversations, clock }: StartCallOptions,
  request: CallRequest,
  key: CallKey,
): Promise<number> {
  const asked = startRequest(request, key);
  // A repeated request returns the conversation that the first one has started.
  const start = () => conversations.startConversation(asked);
  const { conversation, lastSequence } = await untilAnswered(clock, start, STARTS_WITHIN_MS);
  if (conversation && conversation.status !== ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS)
    throw new ServiceError("condition", "The conversation of this call has ended: make another call");
  return lastSequence;
}

type Models = ReturnType<typeof modelsOf>;

function eachModel(
  options: Pick<StartCallOptions, "getSpeech" | "selectSpeech">,
  { ownerId, agentId, draftId }: CallRequest,
  setup: Setup,
  { stt, tts, hearing, voice }: Extract<Models, { type: "each" }>,
  common: CommonParts & { transcript: Transcript },
  personFor: (ears: Ears) => CommonParts["person"],
): HeldCall {
  const parts = {
    ...common,
    hearing,
    listening: { model: stt.modelName, language: stt.language, params: {} },
    voice: voiceWith(voice, tts),
    agentId,
    voiceOf: async (otherId: string) => {
      const ofDraft = otherId === agentId ? (draftId ?? undefined) : undefined;
      const theirs = await options.getSpeech({ ownerId, agentId: otherId, draftId: ofDraft });
      if (!theirs.tts) throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
      const { voice } = options.selectSpeech({ stt, tts: theirs.tts });
      return { voice: voiceWith(voice, theirs.tts), language: theirs.stt?.language ?? theirs.tts.language };
    },
  };
  const settings = turnSettings(setup, { isSpeechToSpeech: false, endsTurns: hearing.endsTurns });
  const person = personFor({ ...parts, detector: common.detector });
  return holdCall({ ...common, person }, settings, (call) => pipelineAgent(parts, call));
}

/** How people are called for the user of a call. */
function personOf(
  { conversations, clock, log, dialPerson, denialOf, transferring, live }: StartCallOptions,
  { channel }: CallRequest,
  key: CallKey,
  said: Transcript,
  { hearing, listening, detector }: Ears,
): CommonParts["person"] {
  if (!dialPerson) return undefined;
  const ears = { hearing, listening, detector };
  const { ownerId } = key;
  return {
    partsFor: (user, voice) => {
      const reachedBy = async (farEnd: FarEnd | null) => {
        const ends = [user.farEnd?.() ?? null, farEnd].filter((each) => each !== null);
        await live
          .reachedBy(key, ends.length > 0 ? { type: "several", ends } : null)
          .catch((err) => log.warn({ err }, "could not store that a person is called"));
      };
      return {
        ...{ ...ears, voice, clock, log },
        askModel: async (instruction) => (await conversations.askModel({ ...key, instruction })).text,
        dial: async (to, listener, signal) => {
          await checkTransfer({ denialOf, transferring: (number) => transferring?.(ownerId, number) }, to);
          const call = { ownerId, from: ownNumber(channel), to };
          const leg = await dialPerson(call, listener, signal, reachedBy);
          await reachedBy(leg.farEnd?.() ?? null);
          return leg;
        },
      };
    },
    bridging: { ...ears, said: (role, text) => said.append(role, text) },
  };
}

function ownNumber(channel: CallRequest["channel"]): string | undefined {
  if (channel.type !== "TELEPHONY") return undefined;
  return channel.callingType === "INBOUND" ? channel.toMobileNumber : channel.fromMobileNumber;
}

function voiceWith(tts: TextToSpeech, { modelName, voiceId, language, speed }: TtsConfig): Voice {
  return { tts, options: { model: modelName, voiceId, language, speed, params: {} } };
}

function oneModel(
  { conversations }: StartCallOptions,
  { lastSequence, ...key }: CallKey & { lastSequence: number },
  setup: Setup,
  { config, sts }: Extract<Models, { type: "one" }>,
  common: CommonParts & { transcript: Transcript },
): HeldCall {
  const { modelName: model, voiceId, language, params } = config;
  const tools = setup.toolDefinitions.map((tool) => ({ ...tool, parameters: tool.parameters ?? {} }));
  const parts: StsParts = {
    ...common,
    sts,
    conversing: { model, voiceId, language, params: params ?? {}, prompt: setup.prompt, tools },
    rulesOf: (name) => rulesOf(tools.find((tool) => tool.name === name)?.rules),
    runTool: async ({ toolCallId, name, input }, { messages, offset }, withinMs) => {
      const { clients } = common;
      const sequence = lastSequence + messages + 1;
      const clientTools = clients?.areMade() ?? false;
      const run = { ...key, name, arguments: input as never, sequence, offset, clientTools, toolCallId };
      const answered = await conversations.runCallTool(run, { timeoutMs: withinMs });
      const { clientCall } = answered;
      const told = clientCall && (await clients?.make(clientCall, clientCall.timeoutMs));
      if (clientCall?.wait && !told)
        throw new ServiceError("unavailable", "The result of a client's call is not known");
      return { ...answered, ...told };
    },
  };
  const settings = turnSettings(setup, { isSpeechToSpeech: true, endsTurns: true });
  return holdCall(common, settings, (call) => stsAgent(parts, call));
}

/** The request that starts a call's conversation, the same for the same call, so that a repeat is recognized. */
export function startRequest(request: CallRequest, key: CallKey): StartConversationRequest {
  const { agentId, channel, dynamicVariables, metadata, isTestCall } = request;
  return StartConversationRequest.fromPartial({
    ...key,
    agentId,
    dynamicVariables: dynamicVariables as never,
    metadata: metadata as never,
    isTestCall: isTestCall ?? false,
    draftId: request.draftId ?? undefined,
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
