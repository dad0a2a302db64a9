import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { type AgentKey, AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import { createEgress } from "@parley/shared/egress/egress";
import { startSweeps, sweepQueues } from "@parley/shared/jobs/sweeps";
import { startWorker } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/run-process";
import { startService } from "@parley/shared/process/service";
import { createClient } from "@parley/shared/rpc/client";
import { registered } from "@parley/shared/rpc/registration";
import { createSealer } from "@parley/shared/sealing";
import { fewAtOnce, fewUnverified } from "@parley/shared/shares/few-at-once";
import { counter } from "@parley/shared/telemetry/instruments";
import { startCalls } from "./call/calls.ts";
import { hangUpLater, hangUpLost, LOST_QUEUE } from "./call/hang-up-lost.ts";
import { listenForSignals } from "./call/signals.ts";
import { carrierAdapters } from "./carriers/adapters.ts";
import type { CallbackContext } from "./carriers/callbacks/handle-callback.ts";
import { incomingCalls } from "./carriers/callbacks/incoming-calls.ts";
import { spokenCalls } from "./carriers/callbacks/spoken-calls.ts";
import { carrierOfNumber, connectedCarriers } from "./carriers/connected.ts";
import type { VoiceConfig } from "./config.ts";
import type { VoiceContext } from "./context.ts";
import { dailyConnections } from "./daily/connections.ts";
import type { DailyContext } from "./daily/context.ts";
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
import { observeQueuedCalls } from "./outbound/metrics.ts";
import { numberFault } from "./outbound/new-call.ts";
import { outboundCalls } from "./outbound/outbound.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { openFiles } from "./recording/files/place.ts";
import { recordings } from "./recording/recordings.ts";
import { checkCallbackId } from "./rpc/check-callback-id.ts";
import { connectWebCall } from "./rpc/connect-web-call.ts";
import { createWebCall } from "./rpc/create-web-call.ts";
import { endWebCall } from "./rpc/end-web-call.ts";
import { forgetOwner } from "./rpc/forget-owner.ts";
import { forgetRecordings } from "./rpc/forget-recordings.ts";
import { getSpeechSetup } from "./rpc/get-speech-setup.ts";
import { handleCarrierCallback } from "./rpc/handle-carrier-callback.ts";
import { listTrunkRegistrations } from "./rpc/list-trunk-registrations.ts";
import { readRecording } from "./rpc/read-recording.ts";
import { speak } from "./rpc/speak.ts";
import { speakToNumber } from "./rpc/speak-to-number.ts";
import { transcribe } from "./rpc/transcribe.ts";
import { announcer } from "./sip-calls/announce.ts";
import { ADMISSIONS, answerInvite } from "./sip-calls/answer-invite.ts";
import { confirmations } from "./sip-calls/confirmations.ts";
import { dialSip } from "./sip-calls/dial-sip.ts";
import { digestLimits } from "./sip-calls/digest-limits.ts";
import { hostAddresses } from "./sip-calls/host-addresses.ts";
import { serveSip } from "./sip-calls/serve-sip.ts";
import { withDefaults } from "./speech/default-speech.ts";
import { selectTextToSpeech } from "./speech/providers.ts";
import { findIdOfCarrierCall } from "./store/outbound-calls.ts";
import { expiredMediaStreams } from "./transport/media-stream/expire.ts";
import { serveMediaStreams } from "./transport/media-stream/media-streams.ts";
import { mediaTls } from "./transport/media-stream/media-tls.ts";
import { observePorts } from "./transport/rtp/observe-ports.ts";
import { keepTrunksRegistered } from "./trunks/keep-registered.ts";
import { observeTrunks } from "./trunks/observe-trunks.ts";
import { voiceNotes } from "./voice-notes/voice-notes.ts";
import { expiredWebCalls } from "./web-calls/expire.ts";
import { iceServersOf } from "./web-calls/ice-servers.ts";
import { webCalls } from "./web-calls/web-calls.ts";

/** How long a carrier may take from asking what to play until it opens its stream. */
const STREAM_WITHIN_MS = 60_000;

const dropped = counter("parley.media.dropped", "Packets and messages of calls that were discarded, by reason");

export function startVoice(config: VoiceConfig, log: Logger, given?: Clock): Promise<Running> {
  return startService(
    {
      name: "voice",
      definition: VoiceServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: async ({ db, direct, clock, credentials }) => {
        const accountAddress = config.PARLEY_ACCOUNT_ADDRESS;
        const accounts = createClient(AccountServiceService, { peer: "account", address: accountAddress, credentials });
        const agentAddress = config.PARLEY_AGENT_ADDRESS;
        const agents = createClient(AgentServiceService, { peer: "agent", address: agentAddress, credentials });
        const conversations = createClient(ConversationServiceService, {
          peer: "conversation",
          address: config.PARLEY_CONVERSATION_ADDRESS,
          credentials,
        });
        const egress = createEgress({ allow: config.PARLEY_ALLOWED_PRIVATE_HOSTS });
        const defaults = { stt: config.PARLEY_DEFAULT_STT, tts: config.PARLEY_DEFAULT_TTS };
        const getSpeech = async (key: AgentKey) => withDefaults(await agents.getSpeech(key), defaults);
        const speech = { variables: config.credentials, guardedFetch: egress.fetch };
        const recordingFiles = config.PARLEY_RECORDINGS
          ? openFiles(config.PARLEY_RECORDINGS, {
              endpoint: config.PARLEY_RECORDINGS_ENDPOINT,
              region: config.PARLEY_RECORDINGS_REGION,
              accessKeyId: config.PARLEY_RECORDINGS_ACCESS_KEY,
              secretAccessKey: config.PARLEY_RECORDINGS_SECRET_KEY,
            })
          : null;
        const kept = recordings({
          db,
          clock,
          log,
          files: recordingFiles,
          publicUrl: config.PARLEY_PUBLIC_URL.replace(/\/+$/, ""),
          ownerBytesMax: config.PARLEY_RECORDINGS_OWNER_BYTES,
        });
        const policies = callPolicies({
          db,
          clock,
          log,
          policyOf: async (ownerId) => {
            const { policy } = await accounts.getCallPolicy({ ownerId });
            return policy ?? { countries: [], callsPerDay: 0, minutesPerDay: 0 };
          },
        });
        const calls = await startCalls({
          db,
          clock,
          conversations,
          agents: { getSpeech },
          speech,
          recordings: kept,
          callsMax: config.PARLEY_CALLS_CONCURRENT_MAX,
          recordEnd: async (call, end) =>
            (await recordSessionEnd({ db, clock }, call, end)) ?? (await recordEnd({ db, clock }, call, end)),
          transferring: policies.transferring,
          denialOf: (number) => denialOf(number, config.PARLEY_CALLS_DENIED_PREFIXES),
          unbegun: (call) => completeUnbegun({ db, clock }, call),
          hangUpLost: (call, farEnd) => hangUpLater(db, call, farEnd, clock.now()),
          drainMs: config.PARLEY_CALLS_DRAIN_MS,
          log,
        });
        const media = {
          hostname: config.PARLEY_RTP_LISTEN,
          ports: config.PARLEY_RTP_PORTS,
          announced: config.PARLEY_RTP_ADDRESS || undefined,
          dropped: (reason: string) => dropped().add(1, { reason }),
        };
        const browsers = webCalls(calls.startCall, media);
        const signals = listenForSignals({ db, direct, log }, calls.signal);
        const stopping = new AbortController();
        const adapters = carrierAdapters({
          twilioUrl: config.PARLEY_TWILIO_BASE_URL,
          plivoUrl: config.PARLEY_PLIVO_BASE_URL,
          publicUrl: config.PARLEY_PUBLIC_URL,
          callOf: (ownerId, carrierCallId) => findIdOfCarrierCall(db, ownerId, carrierCallId),
        });
        const carriersOf = connectedCarriers(accounts, adapters);
        const dial = dialSip(() => sip, config.PARLEY_ALLOWED_PRIVATE_HOSTS);
        const outbound: OutboundContext = {
          db,
          clock,
          log,
          limits: {
            callsMax: config.PARLEY_CALLS_CONCURRENT_MAX,
            callsPerSecond: config.PARLEY_CALLS_PER_SECOND,
            queuedMax: config.PARLEY_CALLS_QUEUED_MAX,
          },
          deniedPrefixes: config.PARLEY_CALLS_DENIED_PREFIXES,
          policies,
          carrierOfNumber: carrierOfNumber(accounts, adapters),
          numbersOf: async (ownerId, agentId) => (await agents.getSpeech({ ownerId, agentId })).mobileNumbers,
          carriersOf,
          dialTrunk: trunkDialer(accounts, dial),
          checkAgent: calls.check,
          startCall: calls.startCall,
          conversations,
          signals,
          expectMedia: ({ ownerId, callId, provider }) => {
            const expiresAt = new Date(clock.now().getTime() + STREAM_WITHIN_MS);
            return mediaStreams.expect({
              ownerId,
              callId,
              dialect: provider === "PLIVO" ? "plivo" : "twilio",
              expiresAt,
            });
          },
        };
        const mediaStreams = serveMediaStreams({
          listen: config.PARLEY_VOICE_LISTEN,
          tls: mediaTls(config),
          publicUrl: config.PARLEY_VOICE_URL,
          // A stream whose call has ended may still be open for a moment.
          streamsMax: 2 * config.PARLEY_CALLS_CONCURRENT_MAX,
          db,
          clock,
          arrived: async (stream) => {
            if (!(await incoming.hold(stream))) await holdStream(outbound, stream);
          },
          dropped: media.dropped,
        });
        const incoming = incomingCalls({
          db,
          clock,
          log,
          accounts,
          agents,
          carriersOf,
          checkAgent: calls.check,
          startCall: calls.startCall,
          expectMedia: mediaStreams.expect,
          callsMax: config.PARLEY_CALLS_CONCURRENT_MAX,
          unknownNumberSentence: config.PARLEY_UNKNOWN_NUMBER_SENTENCE,
        });
        const spoken = spokenCalls({ db, clock, carriersOf });
        const announce = announcer({
          sentence: config.PARLEY_UNKNOWN_NUMBER_SENTENCE,
          tts: config.PARLEY_DEFAULT_TTS,
          voiceOf: (tts) => selectTextToSpeech(tts, speech),
          log,
        });
        const admitFewAtOnce = fewAtOnce(ADMISSIONS);
        const limitDigests = digestLimits(() => performance.now());
        const confirm = confirmations();
        const sip = await serveSip(config, media.dropped, (invite) =>
          answerInvite(
            {
              accounts,
              agents,
              addressesOf: hostAddresses,
              admitFewAtOnce,
              confirm,
              limitDigests,
              isLoopbackOpen: config.PARLEY_SIP_LOOPBACK_OPEN === "1",
              startCall: calls.startCall,
              checkCall: async (request) => {
                await calls.checkPlace(request.ownerId);
                await calls.check(request);
              },
              announce,
              log,
            },
            invite,
          ),
        );
        const { handlers: outboundHandlers, queues, sweeps: outboundSweeps } = outboundCalls(outbound);
        const verifyFewAtOnce = fewUnverified();
        const sealer = createSealer(config.PARLEY_TOKEN_KEY);
        const dailyContext: DailyContext = {
          verifyFewAtOnce,
          sealer,
          db,
          clock,
          log,
          connections: dailyConnections({
            accounts,
            baseUrl: config.PARLEY_DAILY_BASE_URL,
            operatorKey: config.PARLEY_DAILY_API_KEY,
          }),
          hasSip: sip !== null,
          dialSip: dial,
          checkAgent: calls.check,
          startCall: calls.startCall,
          conversations,
          signals,
          publicUrl: config.PARLEY_PUBLIC_URL,
        };
        const daily = dailySessions(dailyContext);
        const callbacks: CallbackContext = {
          accounts,
          calledBack: calledBack(outbound),
          incoming,
          spoken,
          verifyFewAtOnce,
          publicUrl: config.PARLEY_PUBLIC_URL,
        };
        const placing = startWorker(db, { ...queues, ...daily.queues }, log, { clock, direct });
        const unobserve = [
          observeQueuedCalls(db, clock),
          observePorts(calls.underWay, config.PARLEY_RTP_PORTS),
          sip ? observeTrunks(db, clock) : () => {},
        ];
        const sweeps = [
          expiredWebCalls(db),
          expiredMediaStreams(db),
          incoming.sweep,
          spoken.sweep,
          daily.sweep,
          ...outboundSweeps,
        ];
        const forgetting = forgetOwners({ db, clock, signals, recordings: kept });
        const worker = startWorker(
          db,
          {
            ...sweepQueues(clock, log, sweeps, stopping.signal),
            ...kept.queues,
            ...forgetting,
            [LOST_QUEUE]: hangUpLost({ carriersOf, sip: () => sip, log }),
          },
          log,
          {
            clock,
            direct,
          },
        );
        await startSweeps(db, clock, sweeps);
        const allow = config.PARLEY_ALLOWED_PRIVATE_HOSTS;
        const registrations = sip && (await keepTrunksRegistered({ db, direct, clock, log, accounts, sip, allow }));
        const { PARLEY_ICE_SERVERS: iceServers, PARLEY_TURN_SECRET: turnSecret } = config;
        const notes = voiceNotes({ getSpeech, speech });
        const ctx: VoiceContext = {
          db,
          checkAgent: calls.check,
          webCalls: browsers,
          voiceNotes: notes,
          signals,
          recordings: kept,
          recordingFiles,
          iceServersFor: (use) => iceServersOf(iceServers, turnSecret, use),
          sealer,
          clock,
        };
        return {
          handlers: {
            ...outboundHandlers,
            ...daily.handlers,
            handleCarrierCallback: handleCarrierCallback(callbacks),
            checkCallbackId: checkCallbackId(callbacks, dailyContext),
            createWebCall: createWebCall(ctx),
            connectWebCall: connectWebCall(ctx),
            endWebCall: endWebCall(ctx),
            // These last as long as a provider takes, and the owner's other calls must not wait for them.
            transcribe: registered(transcribe(ctx), { hasOwnShares: true }),
            speak: registered(speak(ctx), { hasOwnShares: true }),
            listTrunkRegistrations: listTrunkRegistrations({ db, clock, sip }),
            getSpeechSetup: getSpeechSetup(speech),
            speakToNumber: speakToNumber({ spoken, numberFault: (number) => numberFault(outbound, number) }),
            readRecording: readRecording(ctx),
            forgetRecordings: forgetRecordings(ctx),
            forgetOwner: forgetOwner(ctx),
          },
          stop: async () => {
            // Places no more calls, before those in progress are ended.
            await placing.stop();
            for (const stop of unobserve) stop();
            // The trunks' and carriers' calls go to other processes while those in progress end.
            mediaStreams.close();
            await registrations?.stop();
            await calls.stop();
            sip?.stop();
            await mediaStreams.stop();
            stopping.abort();
            await Promise.all([signals.stop(), worker.stop()]);
            egress.close();
            for (const client of [accounts, agents, conversations]) client.close();
          },
        };
      },
    },
    config,
    log,
  );
}
