import type { Carrier } from "@parley/proto/parley/account/v1/account.ts";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type {
  CompleteConversationRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import {
  CreateDailySessionRequest,
  type CreateDailySessionResponse,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Database } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createSealer } from "@parley/shared/sealing";
import { fewUnverified } from "@parley/shared/shares/few-at-once";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { newOwner } from "@parley/testkit/owners";
import { type DailyStandIn, dailyStandIn } from "@parley/testkit/stand-ins/carriers/daily-api";
import type { CallRequest } from "../../src/call/port.ts";
import { NotConnected } from "../../src/call/port.ts";
import { dailyConnections } from "../../src/daily/connections.ts";
import type { DailyContext } from "../../src/daily/context.ts";
import { dailySessions } from "../../src/daily/daily.ts";
import { recordSessionEnd } from "../../src/daily/end-session.ts";
import type { DialSip } from "../../src/sip-calls/dial-sip.ts";
import type { CallEnd } from "../../src/store/calls.ts";
import { deleteCall, takeCall } from "../../src/store/calls.ts";
import { type DailySession, findDailySession } from "../../src/store/daily-sessions.ts";
import { listening } from "../listening.ts";
import { runDue } from "../outbound/kit.ts";

export const OPERATORS_KEY = "key-of-the-operator";

export interface Daily {
  ctx: DailyContext;
  clock: FakeClock;
  standIn: DailyStandIn;
  /** Connects a Daily domain of the owner. @returns car_… */
  connect(ownerId: string, apiKey: string): string;
  /** What is dialed, and how it goes; answers by default. */
  dialled: string[];
  dial: DialSip;
  /** The calls that this process holds, with how each is to end. */
  held: Map<string, { request: CallRequest; end(end?: Partial<CallEnd>): Promise<void> }>;
  /** How conversations ended, each once, as the conversation service keeps them. */
  conversations: Map<string, { started: StartConversationRequest; outcome: Outcome | null; notes: string | undefined }>;
  completions: number;
  create(ownerId: string, given?: Partial<CreateDailySessionRequest>): Promise<CreateDailySessionResponse>;
  session(key: { ownerId: string; conversationId: string }): Promise<DailySession>;
  /** Hands a webhook to the service as the gateway would. */
  webhook(connection: string, body: string, signature?: string, timestamp?: string): Promise<unknown>;
  /** Runs what is due, until nothing is. */
  work(ownerId: string): Promise<void>;
  /** Lets so much time pass, a second at a time, and does what is due. */
  pass(ownerId: string, seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** Sessions in Daily rooms, on a database of the voice service, with Daily's stand-in and everything else scripted. */
export function daily(
  db: Database,
  given: Partial<DailyContext> & { callsMax?: number; operatorKey?: string } = {},
): Daily {
  const { callsMax = 10, operatorKey = OPERATORS_KEY, ...replaced } = given;
  const clock = fakeClock();
  const standIn = dailyStandIn({ sipHost: "127.0.0.1:5099", now: () => clock.now().getTime() });
  standIn.addDomain({ apiKey: OPERATORS_KEY, domain: "operator" });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith("/v1/carriers/daily/")) return standIn.fetch(request);
      const { headers } = request;
      const refused = await kit
        .webhook(
          pathname.split("/").at(-1) ?? "",
          await request.text(),
          headers.get("x-webhook-signature") ?? "",
          headers.get("x-webhook-timestamp") ?? "",
        )
        .then(() => null)
        .catch((error) => error);
      return new Response(null, { status: refused ? 403 : 200 });
    },
  });
  const carriers = new Map<string, Carrier>();
  const held: Daily["held"] = new Map();
  const conversations: Daily["conversations"] = new Map();
  const processId = newUuid();

  const ctx: DailyContext = {
    db,
    clock,
    log: silentLogger,
    hasSip: true,
    sealer: createSealer(Buffer.alloc(32).toString("base64")),
    verifyFewAtOnce: fewUnverified(),
    publicUrl: server.url.origin,
    connections: dailyConnections({
      baseUrl: server.url.origin,
      operatorKey,
      accounts: {
        listCarriers: (async ({ ownerId }: { ownerId: string }) => ({
          carriers: [...carriers.values()].filter((each) => each.ownerId === ownerId),
        })) as never,
        getCarrierCredentials: (async ({ ownerId, carrierId }: { ownerId: string; carrierId: string }) => {
          const carrier = carriers.get(carrierId);
          if (carrier?.ownerId !== ownerId) throw notFound("Carrier");
          return { carrier };
        }) as never,
        findCarrier: (async ({ carrierId }: { carrierId: string }) => ({ carrier: carriers.get(carrierId) })) as never,
      },
    }),
    dialSip: (call, ...connect) => {
      kit.dialled.push(`${call.user}@${call.host}`);
      return kit.dial(call, ...connect);
    },
    checkAgent: async ({ agentId }) => {
      if (agentId === "agt_mute") throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
      return { startWebhookMs: 0, agentVersion: 4 };
    },
    startCall: async (request, connect) => {
      const key = { ownerId: request.ownerId, conversationId: request.conversationId ?? "" };
      const now = clock.now();
      if (!(await takeCall(db, { ...key, farEnd: null, processId, now, until: now }, callsMax)))
        throw new ServiceError("rate_limited", "no place");
      const ended = Promise.withResolvers<CallEnd>();
      const unwanted = new AbortController();
      const end = async (how: Partial<CallEnd> = {}) => {
        if (!held.delete(key.conversationId)) return;
        unwanted.abort();
        const call: CallEnd = { outcome: "SUCCESS", durationSeconds: 1, notes: null, ...how };
        const recorded = (await recordSessionEnd(ctx, key, call)) ?? call;
        await ctx.conversations.completeConversation({
          ...key,
          outcome: Outcome[`OUTCOME_${recorded.outcome}`],
          notes: recorded.notes ?? undefined,
        } as never);
        await deleteCall(db, key, processId);
        ended.resolve(recorded);
      };
      held.set(key.conversationId, { request, end });
      connect(listening().to, unwanted.signal, async () => {}).catch((error) =>
        end({ outcome: error instanceof NotConnected ? HOW[error.how] : "ERROR", notes: String(error.message) }),
      );
      return { conversationId: key.conversationId, ended: ended.promise, hangUp: () => {} };
    },
    conversations: {
      startConversation: (async (request: StartConversationRequest) => {
        if (request.agentId === "agt_gone") throw new ServiceError("not_found", "Agent not found");
        if (!conversations.has(request.conversationId))
          conversations.set(request.conversationId, { started: request, outcome: null, notes: undefined });
      }) as never,
      completeConversation: (async ({ conversationId, outcome, notes }: CompleteConversationRequest) => {
        kit.completions++;
        const conversation = conversations.get(conversationId);
        if (!conversation) throw notFound("Conversation");
        if (conversation.outcome === null) Object.assign(conversation, { outcome, notes });
      }) as never,
    },
    // As the process that holds the call does.
    signals: { tell: async ({ conversationId }) => held.get(conversationId)?.end() },
    ...replaced,
  };
  const { handlers, queues } = dailySessions(ctx);
  const served = { signal: new AbortController().signal } as Served;

  const kit: Daily = {
    ctx,
    clock,
    standIn,
    connect: (ownerId, apiKey) => {
      const carrierId = `car_${newOwner().slice(4)}`;
      standIn.addDomain({ apiKey, domain: `domain-${carriers.size}` });
      const settings = { apiKey, allowedAddresses: [] };
      carriers.set(carrierId, { ownerId, carrierId, provider: "DAILY", settings, createdAt: undefined });
      return carrierId;
    },
    dialled: [],
    dial: async () => ({}) as never,
    held,
    conversations,
    completions: 0,
    create: async (ownerId, asked = {}) => {
      const request = CreateDailySessionRequest.fromPartial({ ownerId, agentId: "agt_1", ...(asked as object) });
      return (await handlers.createDailySession?.(request, served)) as CreateDailySessionResponse;
    },
    session: async (key) => {
      const found = await findDailySession(db, key);
      if (!found) throw new Error("there is no such session");
      return found;
    },
    webhook: async (connection, body, signature = "", timestamp = "") =>
      handlers.handleDailyWebhook?.({ connection, body: Buffer.from(body), signature, timestamp }, served),
    work: async (ownerId) => {
      while (await runDue(db, queues, ownerId, clock.now()));
    },
    pass: async (ownerId, seconds) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1_000);
        await kit.work(ownerId);
      }
    },
    stop: () => server.stop(true),
  };
  return kit;
}

const HOW = {
  no_answer: "NO_ANSWER",
  busy: "BUSY",
  cancelled: "CANCELLED",
  failed: "ERROR",
  unreached: "ERROR",
  left: "HUNG_UP_EARLY",
} as const;
