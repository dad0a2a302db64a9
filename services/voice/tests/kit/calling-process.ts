import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { systemClock } from "@parley/shared/clock";
import { openDatabase } from "@parley/shared/db/database";
import { startWorker } from "@parley/shared/jobs/worker";
import { createLogger } from "@parley/shared/log";
import { createClient } from "@parley/shared/rpc/client";
import { passingTime } from "@parley/shared/shares/passing-time";
import { completeLost } from "../../src/call/complete-call.ts";
import { liveCalls } from "../../src/call/live-calls.ts";
import { listeningOver } from "../../src/call/operator/listeners.ts";
import { callHolder } from "../../src/call/start-call.ts";
import { recordEnd as recordEndOf } from "../../src/outbound/end-call.ts";
import { folderFiles } from "../../src/recording/files/folder.ts";
import { recordings } from "../../src/recording/recordings.ts";
import type { CallEnd, CallKey } from "../../src/store/calls.ts";
import type { LegListener } from "../../src/transport/leg.ts";
import { OPTIONS } from "../webrtc/connected.ts";
import { scriptedLeg } from "./scripted-leg.ts";
import { scriptedDetector, scriptedHearing, scriptedVoice } from "./scripted-speech.ts";

/**
 * A process with calls in which scripted users ask one question after the other, for tests that kill it. Prints a line of JSON for each
 * call, and hangs all of them up when its input ends.
 */
const {
  DATABASE_URL = "",
  CONVERSATION_ADDRESS = "",
  OWNER_ID = "",
  AGENT_ID = "",
  CALLS = "0",
  RECORDINGS = "",
} = process.env;

const STT = { providerName: "SCRIPTED", modelName: "m", language: undefined, endpoint: undefined };
const TTS = { ...STT, voiceId: "v", speed: undefined };

const log = createLogger("voice", "error");
const conversations = createClient(ConversationServiceService, { peer: "conversation", address: CONVERSATION_ADDRESS });
const db = openDatabase({ url: DATABASE_URL, max: 4, name: "calling-process" });
const kept = recordings({
  db,
  clock: systemClock,
  log,
  files: folderFiles(RECORDINGS),
  publicUrl: "https://api.example",
  ownerBytesMax: 1024 ** 4,
});
const worker = startWorker(db, kept.queues, log, { clock: systemClock, direct: db });
const recordEnd = (call: CallKey, end: CallEnd) => recordEndOf({ db, clock: systemClock }, call, end);
const live = liveCalls({
  db,
  clock: systemClock,
  log,
  callsMax: 1_000,
  endLost: (call) =>
    completeLost({ conversations, recordEnd, recordings: kept, clock: systemClock, hangUp: async () => {} }, call),
  overtaken: () => {},
});
const stopping = new AbortController();
const ended: Promise<unknown>[] = [];
const leave: (() => void)[] = [];

for (let number = 0; number < Number(CALLS); number++) await call();
print({ ready: true });
for await (const _input of Bun.stdin.stream());
for (const each of leave) each();
await Promise.all(ended);
await Promise.all([live.stop(), worker.stop()]);
await db.end();
process.exit(0);

async function call(): Promise<void> {
  const [hearing, voice, detector] = [scriptedHearing(), scriptedVoice(), scriptedDetector()];
  let asked = 0;
  const ask = () => {
    asked++;
    const text = `What about number ${asked}?`;
    detector.report({ type: "speech_began", agoMs: 0 });
    hearing.report({ type: "partial", text });
    setTimeout(() => {
      detector.report({ type: "speech_ended", agoMs: 0 });
      hearing.report({ type: "final", text });
    }, 250);
  };
  const holder = callHolder({
    conversations,
    getSpeech: async () => ({ stt: STT, tts: TTS, sts: undefined }),
    selectSpeech: () => ({ hearing, voice }),
    selectHearing: () => hearing,
    selectSpeechToSpeech: () => {
      throw new Error("not asked for");
    },
    detector,
    live,
    recordings: kept,
    listening: listeningOver(OPTIONS),
    clock: passingTime,
    time: systemClock,
    log,
    stopping: stopping.signal,
    recordEnd,
    denialOf: () => null,
  });
  const watch = (news: { type: string; state?: string }) => {
    if (news.type === "state" && news.state === "listening") setTimeout(ask, 100);
  };
  let listenerOf: LegListener | null = null;
  const underWay = await holder.start(
    { ownerId: OWNER_ID, agentId: AGENT_ID, channel: { type: "WEB" }, watch },
    async (listener) => {
      listenerOf = listener;
      setTimeout(ask, 100);
      return scriptedLeg(passingTime, listener);
    },
  );
  leave.push(() => listenerOf?.ended("hung_up"));
  ended.push(underWay.ended.then((end) => print({ ended: underWay.conversationId, ...end })));
  print({ call: underWay.conversationId });
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
