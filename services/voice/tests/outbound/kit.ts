import type { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type {
  CompleteConversationRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Call } from "@parley/proto/parley/voice/v1/call.ts";
import { CreateCallRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Database } from "@parley/shared/db/database";
import { startFailure } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { type Queue, retryDelayMs } from "@parley/shared/jobs/queue";
import { silentLogger } from "@parley/shared/log";
import type { Call as Served } from "@parley/shared/rpc/call";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { newOwner } from "@parley/testkit/owners";
import type { Pcm } from "../../src/audio/pcm.ts";
import { completeLost, type LostCallContext } from "../../src/call/complete-call.ts";
import { hangUpLater, lostCalls } from "../../src/call/hang-up-lost.ts";
import { type CallRequest, NotConnected } from "../../src/call/port.ts";
import type { CallSignal } from "../../src/call/signals.ts";
import type { CalledBack } from "../../src/carriers/carrier.ts";
import { calledBack } from "../../src/outbound/called-back.ts";
import { type OutboundContext, QUEUES } from "../../src/outbound/context.ts";
import { completeUnbegun, recordEnd } from "../../src/outbound/end-call.ts";
import { holdAnswered } from "../../src/outbound/hold-stream.ts";
import { outboundCalls } from "../../src/outbound/outbound.ts";
import type { CallEnd } from "../../src/store/calls.ts";
import { deleteCall, storeFarEnd, takeCall } from "../../src/store/calls.ts";
import type { Provider } from "../../src/store/outbound-calls.ts";
import type { FarEnd } from "../../src/transport/leg.ts";
import type { UserAgent } from "../../src/transport/sip/user-agent.ts";
import { type ScriptedCarrier, scriptedCarrier } from "./scripted-carrier.ts";

export const OURS = "+14155550100";
export const THEIRS = "+14155550123";

export interface Outbound {
  ctx: OutboundContext;
  handlers: ReturnType<typeof outboundCalls>["handlers"];
  clock: FakeClock;
  /** The provider of every number. */
  provider: Provider;
  carrier: ScriptedCarrier;
  /** How long the agent's start webhook may take; 0: none is asked. */
  startWebhookMs: number;
  /** What it says of a call. */
  start: "continue" | "reject" | "fail";
  /** What another process hangs up lost SIP calls with. */
  sip: UserAgent | null;
  callbacks: CalledBack;
  signals: { conversationId: string; signal: CallSignal }[];
  /** The calls that are held, with how each is to end. */
  held: Map<string, { request: CallRequest; end(end: Partial<CallEnd>): Promise<void> }>;
  /** How conversations ended, each once, as the conversation service keeps them. */
  conversations: Map<string, { started: StartConversationRequest; outcome: Outcome | null; notes: string | undefined }>;
  create(ownerId: string, given?: Partial<CreateCallRequest>): Promise<Call>;
  get(call: { ownerId: string; callId: string }): Promise<Call>;
  hangUp(call: { ownerId: string; callId: string }): Promise<Call>;
  /** Another process finds that the one which held the call is gone. */
  endLost(
    call: { ownerId: string; conversationId: string },
    conversations?: LostCallContext["conversations"],
  ): Promise<void>;
  /** Runs what is due, until nothing is. */
  work(ownerId: string): Promise<void>;
  /** Lets so much time pass, a second at a time, and does what is due. */
  pass(ownerId: string, seconds: number): Promise<void>;
}

/** Outbound calls on a database of the voice service, with everything around them scripted. */
export function outbound(db: Database, given: Partial<OutboundContext["limits"]> = {}): Outbound {
  const clock = fakeClock();
  const carrier = scriptedCarrier();
  const signals: Outbound["signals"] = [];
  const held: Outbound["held"] = new Map();
  const conversations: Outbound["conversations"] = new Map();
  const processId = newUuid();

  const ctx: OutboundContext = {
    db,
    clock,
    log: silentLogger,
    limits: { callsMax: 10, callsPerSecond: 1, queuedMax: 1_000, ...given },
    deniedPrefixes: ["+1999"],
    carrierOfNumber: async (_ownerId, number) =>
      number === OURS ? { carrierId: "car_1", provider: kit.provider } : null,
    numbersOf: async () => [OURS],
    carriersOf: async () => carrier,
    dialTrunk: async () => {
      throw new Error("no trunk");
    },
    checkAgent: async ({ agentId }) => {
      if (agentId === "agt_gone") throw new ServiceError("not_found", "Agent not found");
      if (agentId === "agt_mute") throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
      return { startWebhookMs: kit.startWebhookMs };
    },
    startCall: async (request, connect) => {
      const key = { ownerId: request.ownerId, conversationId: request.conversationId ?? "" };
      const now = clock.now();
      if (
        !(await takeCall(
          db,
          { ...key, farEnd: request.farEnd ?? null, processId, now, until: now },
          ctx.limits.callsMax,
        ))
      )
        throw new ServiceError("rate_limited", "no place");
      const ended = Promise.withResolvers<CallEnd>();
      const unwanted = new AbortController();
      const end = async (given: Partial<CallEnd>) => {
        if (!held.delete(key.conversationId)) return;
        unwanted.abort();
        const recorded = await recordEnd(ctx, key, { outcome: "SUCCESS", durationSeconds: 1, notes: null, ...given });
        await deleteCall(db, key, processId);
        ended.resolve(recorded);
      };
      held.set(key.conversationId, { request, end });
      const listener = {
        heard: () => {},
        pressed: () => {},
        reached: () => {},
        sending: (frame: Pcm) => frame,
        ended: () => void end({}),
      };
      connect(listener, unwanted.signal, (farEnd) => storeFarEnd(db, key, farEnd)).catch(async (error) => {
        if (request.takeBack && error instanceof NotConnected && error.how === "unreached") {
          held.delete(key.conversationId);
          await deleteCall(db, key, processId);
          return request.takeBack(error);
        }
        const outcome = error instanceof NotConnected ? OUTCOMES[error.how] : "ERROR";
        return end({ outcome, notes: String(error.message) });
      });
      return { conversationId: key.conversationId, ended: ended.promise, hangUp: () => {} };
    },
    conversations: {
      startConversation: (async (request: StartConversationRequest) => {
        if (request.agentId === "agt_gone" && !request.agentMayBeGone)
          throw new ServiceError("not_found", "Agent not found");
        if (!conversations.has(request.conversationId))
          conversations.set(request.conversationId, { started: request, outcome: null, notes: undefined });
        if (kit.start === "fail" && !request.agentMayBeGone) throw startFailure("The start webhook failed", "");
        return { conversation: undefined, lastSequence: 0, isRejected: kit.start === "reject" };
      }) as never,
      completeConversation: (async ({ conversationId, outcome, notes }: CompleteConversationRequest) => {
        const conversation = conversations.get(conversationId);
        if (conversation?.outcome === null) Object.assign(conversation, { outcome: outcome, notes });
      }) as never,
    },
    signals: {
      tell: async ({ conversationId }, signal) => void signals.push({ conversationId, signal }),
    },
    expectMedia: async ({ callId }) => ({ url: `wss://voice.example.com/media/${callId}` }),
  };
  const { handlers, queues } = outboundCalls(ctx);
  const served = {} as Served;

  const kit: Outbound = {
    ctx,
    handlers,
    clock,
    provider: "TWILIO",
    carrier,
    startWebhookMs: 0,
    start: "continue",
    sip: null,
    callbacks: calledBack(ctx),
    signals,
    held,
    conversations,
    create: async (ownerId, asked = {}) => {
      const request = CreateCallRequest.fromPartial({
        ownerId,
        agentId: "agt_1",
        toMobileNumber: THEIRS,
        ...(asked as object),
      });
      return (await handlers.createCall?.(request, served))?.call as Call;
    },
    get: async (key) => (await handlers.getCall?.(key, served))?.call as Call,
    hangUp: async (key) => (await handlers.hangUpCall?.({ idempotency: undefined, ...key }, served))?.call as Call,
    endLost: async ({ ownerId, conversationId }, known = ctx.conversations) => {
      const [row] = await db<{ farEnd: FarEnd | null }[]>`
        select far_end from calls where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
      if (!row) throw new Error("no process held the call");
      const lost = {
        ownerId,
        conversationId,
        startedAt: clock.now(),
        connectedAt: null,
        durationSeconds: null,
        ...row,
      };
      await completeLost(
        {
          conversations: known,
          recordEnd: (key, end) => recordEnd(ctx, key, end),
          unbegun: (key) => completeUnbegun(ctx, key),
          recordings: { addressOf: async () => null, finish: async () => {} },
          clock,
          hangUp: (key, farEnd) => hangUpLater(db, key, farEnd, clock.now()),
        },
        lost,
      );
    },
    work: async (ownerId) => {
      const lost = lostCalls({ carriersOf: ctx.carriersOf, sip: kit.sip, log: silentLogger });
      while (await runDue(db, { ...queues, ...lost.queues }, ownerId, clock.now(), true));
    },
    pass: async (ownerId, seconds) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1_000);
        await kit.work(ownerId);
      }
    },
  };
  return kit;
}

const OUTCOMES = {
  no_answer: "NO_ANSWER",
  busy: "BUSY",
  cancelled: "CANCELLED",
  failed: "ERROR",
  unreached: "ERROR",
  left: "HUNG_UP_EARLY",
} as const;

/** Runs the owner's oldest due job as a worker would. @returns whether there was one */
export async function runDue(
  db: Database,
  queues: Record<string, Queue>,
  ownerId: string,
  now: Date,
  isRetried = false,
): Promise<boolean> {
  const [job] = await db<{ jobId: string; queue: string; payload: unknown }[]>`
    select job_id, queue, payload from jobs where owner_id = ${ownerId} and due_at <= ${now}
    order by due_at, job_id limit 1`;
  if (!job) return false;
  await db`delete from jobs where owner_id = ${ownerId} and job_id = ${job.jobId}`;
  const run = { ownerId, ...job, attempts: 1, lease: 1, traceparent: null };
  const queue = queues[job.queue];
  const again = await queue?.run(run, new AbortController().signal).catch((error) => {
    const delayMs = isRetried ? (queue.retryDelayMs ?? retryDelayMs)(1) : null;
    if (delayMs === null) throw error;
    return new Date(now.getTime() + delayMs);
  });
  if (again instanceof Date)
    await db`
      insert into jobs (owner_id, job_id, queue, payload, due_at)
      values (${ownerId}, ${job.jobId}, ${job.queue}, ${db.json(job.payload as never)}, ${again})
      on conflict (owner_id, job_id) do update set due_at = least(jobs.due_at, excluded.due_at)`;
  return true;
}

/** A call that rings, or further. */
export async function ringing(kit: Outbound, given: Partial<CreateCallRequest> = {}) {
  const ownerId = newOwner();
  const { callId, conversationId } = await kit.create(ownerId, given);
  await kit.work(ownerId);
  return { ownerId, callId, conversationId, carrierCallId: `CA${kit.carrier.rang.length}` };
}

/** The carrier connects the audio of a call, and this process holds it. */
export async function answered(
  kit: Outbound,
  call: Awaited<ReturnType<typeof ringing>>,
  machine: boolean | null = null,
) {
  const stream = await kit.callbacks.answer(call, { carrierCallId: call.carrierCallId, machine });
  if (stream) await holdAnswered(kit.ctx, call, async () => ({}) as never);
  return stream;
}

export { QUEUES };
