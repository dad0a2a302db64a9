import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { passingTime } from "@parley/shared/shares/passing-time";
import { durations } from "@parley/shared/telemetry/instruments";
import type { Recordings } from "../recording/recordings.ts";
import {
  type SpeechSettings,
  selectSpeechToSpeech,
  selectSpeechToText,
  selectTextToSpeech,
} from "../speech/providers.ts";
import type { WebRtcOptions } from "../transport/webrtc/peer.ts";
import { startSileroDetector } from "../vad/silero.ts";
import { completeLost, type LostCallContext } from "./complete-call.ts";
import { liveCalls } from "./live-calls.ts";
import { listeningOver } from "./operator/listeners.ts";
import type { StartCall } from "./port.ts";
import type { StartCallOptions } from "./prepare-call.ts";
import { type CallHolder, callHolder } from "./start-call.ts";
import type { Conversations } from "./transcript.ts";

interface CallsOptions {
  db: Database;
  clock: Clock;
  conversations: Conversations;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "getSpeech">;
  speech: SpeechSettings;
  recordings: Recordings;
  /** The most calls of one owner at a time, in all processes. */
  callsMax: number;
  recordEnd: StartCallOptions["recordEnd"];
  denialOf: StartCallOptions["denialOf"];
  transferring: StartCallOptions["transferring"];
  transferred: StartCallOptions["transferred"];
  transferEnded: NonNullable<StartCallOptions["transferEnded"]>;
  dialPerson: NonNullable<StartCallOptions["dialPerson"]>;
  unbegun: NonNullable<LostCallContext["unbegun"]>;
  hangUpLost: LostCallContext["hangUp"];
  /** Where those who listen connect. */
  webRtc: WebRtcOptions;
  /** How long calls in progress may continue after SIGTERM. */
  drainMs: number;
  log: Logger;
}

/** The calls of this process. */
interface Calls extends Pick<CallHolder, "check" | "checkPlace" | "signal" | "command" | "watched"> {
  startCall: StartCall;
  underWay(): number;
  /** Takes no more calls, lets those in progress end within the drain time, and ends the rest. */
  stop(): Promise<void>;
}

const stages = durations(
  "parley.call.latency",
  "Latency of spoken replies by stage, from the end of the user's speech",
);

/** @throws when the voice detector cannot be loaded */
export async function startCalls(options: CallsOptions): Promise<Calls> {
  const { db, clock, conversations, agents, speech, recordings, callsMax, recordEnd, denialOf, drainMs, log } = options;
  const { unbegun, hangUpLost: hangUp } = options;
  const detector = await startSileroDetector(log);
  const stopping = new AbortController();
  const live = liveCalls({
    db,
    clock,
    log,
    callsMax,
    endLost: (call) => completeLost({ conversations, recordEnd, unbegun, recordings, clock, hangUp }, call),
    overtaken: (call) => holder.signal(call, "hang_up"),
  });
  const holder: CallHolder = callHolder({
    conversations,
    getSpeech: (request) => agents.getSpeech(request),
    selectSpeech: ({ stt, tts }) => ({
      hearing: selectSpeechToText(stt, speech),
      voice: selectTextToSpeech(tts, speech),
    }),
    selectHearing: (stt) => selectSpeechToText(stt, speech),
    selectSpeechToSpeech: (sts) => selectSpeechToSpeech(sts, speech),
    detector,
    live,
    recordings,
    clock: passingTime,
    time: clock,
    log,
    stopping: stopping.signal,
    recordEnd,
    denialOf,
    dialPerson: options.dialPerson,
    listening: listeningOver(options.webRtc),
    transferEnded: options.transferEnded,
    ...(options.transferring && { transferring: options.transferring }),
    ...(options.transferred && { transferred: options.transferred }),
    measured: (figures) => {
      for (const [stage, ms] of Object.entries(figures)) {
        if (typeof ms === "number") stages().record(ms / 1_000, { stage: stage.replace(/Ms$/, "") });
      }
    },
  });
  return {
    startCall: holder.start,
    check: holder.check,
    checkPlace: holder.checkPlace,
    signal: holder.signal,
    command: holder.command,
    watched: holder.watched,
    underWay: holder.underWay,
    stop: async () => {
      stopping.abort();
      await holder.drain(drainMs);
      await live.stop();
      await detector.close();
    },
  };
}
