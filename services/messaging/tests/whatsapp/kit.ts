import { Carrier } from "@parley/proto/parley/account/v1/account.ts";
import type { StartConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { type WhatsAppApi, type WhatsAppNumber, whatsAppApi } from "@parley/testkit/stand-ins/carriers/whatsapp-api";
import postgres from "postgres";
import { readMessagingConfig } from "../../src/config.ts";
import { startMessaging } from "../../src/service.ts";
import { echo, type Fakes, startFakes } from "./fakes.ts";

/** The most messages to and from an owner's numbers on a day. */
export const MESSAGES_PER_DAY = 60;
/** Those of one person. */
export const MESSAGES_PER_CONTACT = 20;

const POLL_MS = 20;
const TIMEOUT_MS = 60_000;

let persons = 0;
/** A phone number that nobody else in this process has. */
export const person = () => `4917${String(10_000_000 + ++persons)}`;

export interface Connected extends WhatsAppNumber {
  ownerId: string;
  carrierId: string;
  agentId: string;
}

export interface TestWhatsApp {
  fakes: Fakes;
  meta: WhatsAppApi;
  messaging: ServiceClient<typeof MessagingServiceService>;
  clock: FakeClock;
  /** The messaging service's tables. */
  sql: postgres.Sql;
  /** A number of a new or given owner, whose callbacks reach the service. */
  connect(given?: Partial<Pick<Connected, "ownerId" | "agentId" | "appSecret">>): Connected;
  /** Has a person write; the answer comes once no further messages follow. */
  write(number: Connected, from: string, text: string, messageId?: string): Promise<void>;
  /** Lets the time pass that a person has for further messages. */
  quiet(): void;
  /** Lets much time pass once no thread is being worked on, because the lease of one would end. */
  pass(ms: number): Promise<void>;
  /** The texts that a person has got, once there are this many. */
  texts(to: string, count: number): Promise<string[]>;
  /** The messages that an owner's agent was asked, in order. */
  turnsOf(number: Connected): string[];
  conversationsOf(number: Connected): StartConversationRequest[];
  /** The state of the only item with this sequence in the owner's only conversation; 2 is the first reply. */
  delivered(number: Connected, sequence?: number): string | undefined;
  /** The number of messages that no turn has taken yet. */
  waiting(number: Connected): Promise<number>;
  /** When the owner's only thread is worked on next, -1 for never. */
  dueInSeconds(number: Connected): Promise<number>;
  /** When the turn of the owner's only thread is due, -1 for never. */
  turnDueInSeconds(number: Connected): Promise<number>;
  /** When the owner's only refused message is sent again, -1 for never. */
  sendDueInSeconds(number: Connected): Promise<number>;
  /** Has the fakes behave as they do at first. */
  reset(): void;
  /** Starts another process of the service on the same database, and stops the previous one. */
  replaceProcess(): Promise<void>;
  stop(): Promise<void>;
}

/** The service under test in this process, its clock standing still; the services that it calls and WhatsApp are fakes. */
export async function startTestWhatsApp(): Promise<TestWhatsApp> {
  const database = await createTestDatabase();
  const fakes = await startFakes();
  const clock = fakeClock();
  // The gateway's part: it passes callbacks on, and errors as statuses.
  const graph = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const answer = await meta.handle(request);
      if (answer) return answer;
      const carrierId = new URL(request.url).pathname.split("/").at(-1) ?? "";
      const body = Buffer.from(await request.arrayBuffer());
      const signature = request.headers.get("x-hub-signature-256") ?? "";
      return messaging.handleWhatsAppCallback({ carrierId, body, signature }).then(
        () => new Response(),
        (error) => new Response(error instanceof ServiceError ? error.kind : String(error), { status: 500 }),
      );
    },
  });
  const meta = whatsAppApi(() => graph.url.origin);
  const config = readMessagingConfig({
    DATABASE_URL: database.urls.messaging,
    ...FEW_CONNECTIONS,
    PARLEY_ACCOUNT_ADDRESS: fakes.addresses.account,
    PARLEY_AGENT_ADDRESS: fakes.addresses.agent,
    PARLEY_CONVERSATION_ADDRESS: fakes.addresses.conversation,
    PARLEY_VOICE_ADDRESS: fakes.addresses.voice,
    PARLEY_TOKEN_KEY: TEST_SECRET,
    PARLEY_WHATSAPP_MESSAGES_PER_DAY: String(MESSAGES_PER_DAY),
    PARLEY_WHATSAPP_MESSAGES_PER_CONTACT: String(MESSAGES_PER_CONTACT),
    PARLEY_WHATSAPP_BASE_URL: `${graph.url.origin}/v23.0`,
  });
  const start = () => startMessaging(config, silentLogger, { clock, pollMs: POLL_MS });
  let running = await start();
  const clientOf = ({ address = "" }: Running) =>
    createClient(MessagingServiceService, { peer: "messaging", address, timeoutMs: TIMEOUT_MS });
  let messaging = clientOf(running);
  const sql = postgres(database.urls.messaging, { max: 1, onnotice: () => {} });
  const conversationsOf = ({ ownerId }: Connected) =>
    [...fakes.conversations.started.values()].filter((request) => request.ownerId === ownerId);
  const inSeconds = (at: Date | null | undefined) => (at ? (at.getTime() - clock.now().getTime()) / 1_000 : -1);
  let numbers = 0;
  return {
    fakes,
    meta,
    get messaging() {
      return messaging;
    },
    clock,
    sql,
    connect: (given = {}) => {
      const id = ++numbers;
      const number: Connected = {
        ownerId: newOwner(),
        agentId: `agt_${id}`,
        appSecret: `secret of app ${id}`,
        ...given,
        carrierId: newId("car"),
        phoneNumberId: String(100_000 + id),
        accessToken: `token ${id}`,
        verifyToken: `verify ${id}`,
        mobileNumber: `+1415555${String(id).padStart(4, "0")}`,
      };
      const { ownerId, carrierId, callbackUrl: _, ...settings } = number;
      fakes.carriers.push(Carrier.fromPartial({ ownerId, carrierId, provider: "WHATSAPP", settings }));
      meta.addNumber({ ...number, callbackUrl: `${graph.url.origin}/callbacks/${carrierId}` });
      return number;
    },
    // Meta also calls again when a busy machine answers too late.
    write: ({ phoneNumberId }, from, text, messageId = `wamid.${newUuid()}`) =>
      eventually(async () => {
        const { status } = await meta.write(phoneNumberId, from, { text }, messageId);
        if (status !== 200) throw new Error(`the callback was answered with ${status}`);
      }),
    quiet: () => clock.advance(2_000),
    pass: async (ms) => {
      await eventually(async () => {
        const working = await sql`select from jobs where queue = 'threads' and leased_until is not null`;
        if (working.length > 0) throw new Error("a thread is at work");
      });
      clock.advance(ms);
    },
    texts: (to, count) =>
      eventually(() => {
        const texts = meta.sent.filter((message) => message.to === to).map(({ text }) => text);
        if (texts.length < count) throw new Error(`only ${texts.length} messages were sent`);
        return texts;
      }),
    turnsOf: ({ ownerId }) =>
      fakes.conversations.turns.filter((turn) => turn.ownerId === ownerId).map(({ message }) => message),
    conversationsOf,
    delivered: (number, sequence = 2) =>
      fakes.conversations.deliveries.get(`${conversationsOf(number)[0]?.conversationId} ${sequence}`),
    waiting: async ({ ownerId }) => {
      const rows = await sql`select from incoming_messages where owner_id = ${ownerId} and content is not null`;
      return rows.length;
    },
    dueInSeconds: async ({ ownerId }) => {
      const [row] = await sql<{ dueAt: Date }[]>`
        select due_at as "dueAt" from jobs where owner_id = ${ownerId} and queue = 'threads' and leased_until is null`;
      return inSeconds(row?.dueAt);
    },
    turnDueInSeconds: async ({ ownerId }) => {
      const [row] = await sql<{ dueAt: Date | null }[]>`
        select turn_due_at as "dueAt" from threads where owner_id = ${ownerId}`;
      return inSeconds(row?.dueAt);
    },
    sendDueInSeconds: async ({ ownerId }) => {
      const [row] = await sql<{ dueAt: Date }[]>`
        select due_at as "dueAt" from outgoing_messages
        where owner_id = ${ownerId} and state = 'waiting' and attempts > 0`;
      return inSeconds(row?.dueAt);
    },
    reset: () => {
      fakes.conversations.reply = echo;
      fakes.whatsapp = undefined;
      fakes.conversations.full = false;
      fakes.goneAgents.clear();
      meta.statuses = ["sent", "delivered", "read"];
    },
    replaceProcess: async () => {
      const before = { running, messaging };
      running = await start();
      messaging = clientOf(running);
      before.messaging.close();
      await before.running.stop();
    },
    stop: async () => {
      // First, because it would answer every message that a test has left, and WhatsApp would tell of each answer.
      await running.stop();
      messaging.close();
      await meta.settled();
      await Promise.all([sql.end(), fakes.stop(), graph.stop(true)]);
      await database.drop();
    },
  };
}
