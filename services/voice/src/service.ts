import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { type AgentKey, AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import { revealing } from "@parley/shared/domain/secret-keys";
import { createEgress } from "@parley/shared/egress/egress";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import type { Logger } from "@parley/shared/log";
import { handOverQueue } from "@parley/shared/owner-events/hand-over";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { createSealer } from "@parley/shared/sealing";
import { fewUnverified } from "@parley/shared/shares/few-at-once";
import { passingTime } from "@parley/shared/shares/passing-time";
import { counter } from "@parley/shared/telemetry/instruments";
import { startCalls } from "./call/calls.ts";
import { hangUpLater, lostCalls } from "./call/hang-up-lost.ts";
import { callCommands } from "./call/operator/commands.ts";
import { listenForSignals } from "./call/signals.ts";
import { tellTransfers } from "./call/tell-transfers.ts";
import { carrierAdapters } from "./carriers/adapters.ts";
import { holdIncoming } from "./carriers/callbacks/hold-incoming.ts";
import { carrierCalls } from "./carriers/carrier-calls.ts";
import { carrierOfNumber, connectedCarriers } from "./carriers/connected.ts";
import type { VoiceConfig } from "./config.ts";
import { dailyConnections } from "./daily/connections.ts";
import { dailySessions } from "./daily/daily.ts";
import { recordSessionEnd } from "./daily/end-session.ts";
import { MIGRATIONS } from "./migrations.ts";
import { callPolicies } from "./outbound/call-policy.ts";
import { calledBack } from "./outbound/called-back.ts";
import type { OutboundContext } from "./outbound/context.ts";
import { denialOf } from "./outbound/denied-numbers.ts";
import { trunkDialer } from "./outbound/dial-trunk.ts";
import { completeUnbegun, recordEnd } from "./outbound/end-call.ts";
import { holdStream } from "./outbound/hold-stream.ts";
import { numberFault } from "./outbound/new-call.ts";
import { outboundCalls } from "./outbound/outbound.ts";
import { personDialer } from "./outbound/people/dial-person.ts";
import { ringingPeople } from "./outbound/people/ring-person.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { openFiles } from "./recording/files/place.ts";
import { recordings } from "./recording/recordings.ts";
import { checkCallbackId } from "./rpc/check-callback-id.ts";
import { holdTestCall } from "./rpc/hold-test-call.ts";
import { announcer } from "./sip-calls/announce.ts";
import { dialSip } from "./sip-calls/dial-sip.ts";
import { sipCalls } from "./sip-calls/sip-calls.ts";
import { withDefaults } from "./speech/default-speech.ts";
import { selectTextToSpeech } from "./speech/providers.ts";
import { withSecretKeys } from "./speech/secret-keys.ts";
import { findIdOfCarrierCall } from "./store/outbound-calls.ts";
import { findPersonCallOfCarrier } from "./store/person-calls.ts";
import { serveMediaStreams } from "./transport/media-stream/media-streams.ts";
import { mediaTls } from "./transport/media-stream/media-tls.ts";
import { observePorts } from "./transport/rtp/observe-ports.ts";
import { trunks } from "./trunks/trunks.ts";
import { voiceNotes } from "./voice-notes/voice-notes.ts";
import { browserCalls } from "./web-calls/browser-calls.ts";
import { iceServersOf } from "./web-calls/ice-servers.ts";
import { webCalls } from "./web-calls/web-calls.ts";

const mediaDropped = counter("parley.media.dropped", "Packets and messages of calls that were discarded, by reason");

export function startVoice(config: VoiceConfig, log: Logger, given?: Clock): Promise<Running> {
  return startService(
    {
      name: "voice",
      definition: VoiceServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: async ({ db, direct, clock, connect }) => {
        const base = { db, clock, log };
        const allow = config.PARLEY_ALLOWED_PRIVATE_HOSTS;
        const callsMax = config.PARLEY_CALLS_CONCURRENT_MAX;
        const deniedPrefixes = config.PARLEY_CALLS_DENIED_PREFIXES;
        const publicUrl = config.PARLEY_PUBLIC_URL;
        const dropped = (reason: string) => mediaDropped().add(1, { reason });

        const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
        const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
        const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
        const egress = createEgress({ allow });
        const speech = { variables: config.credentials, guardedFetch: egress.fetch };
        const defaults = { stt: config.PARLEY_DEFAULT_STT, tts: config.PARLEY_DEFAULT_TTS };
        const reveal = revealing(accounts);
        const getSpeech = async (key: AgentKey) =>
          withDefaults(await withSecretKeys(reveal, key.ownerId, await agents.getSpeech(key)), defaults);
        const sealer = createSealer(config.PARLEY_TOKEN_KEY);
        const verifyFewAtOnce = fewUnverified();
        const adapters = carrierAdapters({
          twilioUrl: config.PARLEY_TWILIO_BASE_URL,
          plivoUrl: config.PARLEY_PLIVO_BASE_URL,
          publicUrl,
          callOf: async (ownerId, carrierCallId) =>
            (await findIdOfCarrierCall(db, ownerId, carrierCallId)) ??
            (await findPersonCallOfCarrier(db, ownerId, carrierCallId)),
        });
        const carriersOf = connectedCarriers(accounts, adapters);
        const policies = callPolicies({
          ...base,
          policyOf: async (ownerId) => {
            const { policy } = await accounts.getCallPolicy({ ownerId });
            return policy ?? { countries: [], callsPerDay: 0, minutesPerDay: 0 };
          },
        });
        const recorded = recordings({
          ...base,
          files: recordingFiles(config),
          publicUrl: publicUrl.replace(/\/+$/, ""),
          ownerBytesMax: config.PARLEY_RECORDINGS_OWNER_BYTES,
        });

        const webRtc = {
          hostname: config.PARLEY_RTP_LISTEN,
          ports: config.PARLEY_RTP_PORTS,
          announced: config.PARLEY_RTP_ADDRESS || undefined,
          dropped,
        };
        const people = personDialer();
        const calls = await startCalls({
          ...base,
          conversations,
          agents: { getSpeech },
          speech,
          recordings: recorded,
          callsMax,
          recordEnd: async (call, end) =>
            (await recordSessionEnd(base, call, end)) ?? (await recordEnd(base, call, end)),
          transferring: policies.transferring,
          transferred: policies.transferred,
          denialOf: (number) => denialOf(number, deniedPrefixes),
          transferEnded: tellTransfers({ ...base, conversations }),
          dialPerson: people.dial,
          unbegun: (call) => completeUnbegun(base, call),
          hangUpLost: (call, farEnd) => hangUpLater(db, call, farEnd, clock.now()),
          webRtc,
          drainMs: config.PARLEY_CALLS_DRAIN_MS,
        });
        const { startCall, check: checkAgent } = calls;
        const signals = listenForSignals({ db, direct, log }, calls.signal, (call, how) =>
          ringing.unanswered(call, how),
        );
        const holding = { ...base, carriersOf, startCall, signals };
        const media = serveMediaStreams({
          listen: config.PARLEY_VOICE_LISTEN,
          tls: mediaTls(config),
          publicUrl: config.PARLEY_VOICE_URL,
          // A call may have a person's besides its own, and one that has ended may still be open for a moment.
          streamsMax: 4 * callsMax,
          db,
          clock,
          arrived: async (stream) => {
            if (!(await holdIncoming(holding, stream))) await holdStream(holding, stream);
          },
          dropped,
        });
        const ringing = ringingPeople({ ...base, carriersOf, awaited: media.awaited, timers: passingTime });
        const unknownNumberSentence = config.PARLEY_UNKNOWN_NUMBER_SENTENCE;
        const sip = await sipCalls(config, {
          accounts,
          agents,
          startCall,
          checkCall: async (request) => {
            await calls.checkPlace(request.ownerId);
            await checkAgent(request);
          },
          announce: announcer({
            sentence: unknownNumberSentence,
            tts: defaults.tts,
            voiceOf: (tts) => selectTextToSpeech(tts, speech),
            log,
          }),
          dropped,
          log,
        });
        const dial = dialSip(sip, allow);
        const dialTrunk = trunkDialer(accounts, dial);
        const outboundContext: OutboundContext = {
          ...holding,
          limits: {
            callsMax,
            callsPerSecond: config.PARLEY_CALLS_PER_SECOND,
            queuedMax: config.PARLEY_CALLS_QUEUED_MAX,
          },
          deniedPrefixes,
          policies,
          carrierOfNumber: carrierOfNumber(accounts, adapters),
          numbersOf: async (ownerId, agentId) => (await agents.listCallerNumbers({ ownerId, agentId })).mobileNumbers,
          dialTrunk,
          checkAgent,
          conversations,
          expectMedia: media.expect,
        };
        people.use({ ...outboundContext, ringPerson: ringing.ring });
        const outbound = outboundCalls(outboundContext);
        const daily = dailySessions({
          ...base,
          verifyFewAtOnce,
          sealer,
          connections: dailyConnections({
            accounts,
            baseUrl: config.PARLEY_DAILY_BASE_URL,
            operatorKey: config.PARLEY_DAILY_API_KEY,
          }),
          hasSip: sip !== null,
          dialSip: dial,
          checkAgent,
          startCall,
          conversations,
          signals,
          publicUrl,
        });
        const carriers = carrierCalls({
          ...base,
          accounts,
          agents,
          carriersOf,
          checkAgent,
          conversations,
          expectMedia: media.expect,
          awaited: media.awaited,
          signals,
          callsMax,
          unknownNumberSentence,
          calledBack: calledBack(outboundContext),
          verifyFewAtOnce,
          publicUrl,
          numberFault: (number) => numberFault({ deniedPrefixes }, number),
        });
        const browsers = browserCalls(startCall, webRtc);
        const { PARLEY_ICE_SERVERS: iceServers, PARLEY_TURN_SECRET: turnSecret } = config;
        const iceServersFor = iceServersOf.bind(null, iceServers, turnSecret);
        const callbackChecks = new Map(Object.entries({ ...carriers.checks, daily: daily.check }));

        return [
          // They place no more calls before those in progress are ended.
          outbound,
          daily,
          // The trunks' and carriers' calls go to other processes while those in progress end.
          { stop: media.close },
          trunks({ ...base, accounts, sip, allow }),
          { stop: calls.stop },
          { stop: observePorts(calls.underWay, config.PARLEY_RTP_PORTS) },
          { stop: () => sip?.stop() },
          media,
          carriers,
          webCalls({ ...base, checkAgent, browsers, signals, iceServersFor, sealer }),
          voiceNotes({ getSpeech, speech }),
          {
            handlers: {
              holdTestCall: holdTestCall({
                startCall,
                rtp: { ports: config.PARLEY_RTP_PORTS, dropped },
                clock: passingTime,
                tts: config.PARLEY_TEST_TTS ?? defaults.tts,
                voiceOf: (tts) => selectTextToSpeech(tts, speech),
              }),
            },
          },
          recorded,
          forgetOwners({ ...base, signals, recordings: recorded }),
          lostCalls({ carriersOf, sip, log }),
          { queues: handOverQueue(conversations), sweeps: [expiredKeys(db, [IDEMPOTENCY_KEYS])] },
          callCommands({ ...base, direct, command: calls.command, watched: calls.watched, sealer }),
          { handlers: { checkCallbackId: checkCallbackId(callbackChecks) } },
          signals,
          { stop: egress.close },
        ];
      },
    },
    config,
    log,
  );
}

/** Null: calls are not recorded here. */
function recordingFiles(config: VoiceConfig) {
  if (!config.PARLEY_RECORDINGS) return null;
  return openFiles(config.PARLEY_RECORDINGS, {
    endpoint: config.PARLEY_RECORDINGS_ENDPOINT,
    region: config.PARLEY_RECORDINGS_REGION,
    accessKeyId: config.PARLEY_RECORDINGS_ACCESS_KEY,
    secretAccessKey: config.PARLEY_RECORDINGS_SECRET_KEY,
  });
}
