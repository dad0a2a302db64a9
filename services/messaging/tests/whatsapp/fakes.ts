import { type Carrier, CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Conversation, ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  type StartConversationRequest,
  type Turn,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { MESSAGE_DELIVERIES, nameOf } from "@parley/shared/domain/api-names";
import { fullError } from "@parley/shared/domain/full";
import { notFound, ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { type RunningServer, serve } from "@parley/shared/rpc/server";

const FULL = fullError({ bytesMax: 0, what: "Your conversations", remedy: "keep them for fewer days" });
const LISTEN = { address: "127.0.0.1:0", log: silentLogger, drainMs: 1 };

/** Fakes of the services that messaging calls: the part that it uses. */
export interface Fakes {
  addresses: Record<"account" | "agent" | "conversation" | "voice", string>;
  carriers: Carrier[];
  /** How often the lists of carriers have been read. */
  carrierLists: number;
  /** Agents that were deleted. */
  goneAgents: Set<string>;
  conversations: FakeConversations;
  speech: FakeSpeech;
  /** The WhatsApp settings of every agent. */
  whatsapp: Record<string, unknown> | undefined;
  /** The agents of any owner that have a number, by number. */
  callees: Map<string, { ownerId: string; agentId: string }[]>;
  stop(): Promise<void>;
}

export interface FakeConversations {
  started: Map<string, StartConversationRequest>;
  /** Awaited before a conversation starts. */
  starting(): unknown;
  ended: Set<string>;
  /** Whether no owner has room for new conversations and turns. */
  full: boolean;
  /** Transcripts by conversation. */
  said: Map<string, string[]>;
  turns: Turn[];
  /** What a turn is answered with; may throw. */
  reply(turn: Turn, signal: AbortSignal): string | Promise<string>;
  /** By conversation and sequence, such as `sent` or `failed 131047`. */
  deliveries: Map<string, string>;
}

export interface FakeSpeech {
  transcribe(audio: Uint8Array): string | Promise<string>;
  speak(text: string): Uint8Array | Promise<Uint8Array>;
}

/** What an agent answers, unless a test says otherwise. */
export const echo = ({ message }: { message: string }) => `You said: ${message}`;

export async function startFakes(): Promise<Fakes> {
  const servers: RunningServer[] = [];
  const listen = async (serving: Promise<RunningServer>) => {
    const server = await serving;
    servers.push(server);
    return server.address;
  };
  const conversations: FakeConversations = {
    started: new Map(),
    starting: () => {},
    ended: new Set(),
    full: false,
    said: new Map(),
    turns: [],
    reply: echo,
    deliveries: new Map(),
  };
  const replies = new Map<string, { response: string; replySequence: number }>();
  const fakes: Fakes = {
    addresses: { account: "", agent: "", conversation: "", voice: "" },
    carriers: [],
    carrierLists: 0,
    goneAgents: new Set(),
    conversations,
    speech: { transcribe: () => "the words", speak: (text) => Buffer.from(`spoken ${text}`) },
    whatsapp: undefined,
    callees: new Map(),
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
  const carrierOf = (carrierId: string) => fakes.carriers.find((carrier) => carrier.carrierId === carrierId);
  fakes.addresses.account = await listen(
    serve(
      AccountServiceService,
      {
        findCarrier: async ({ carrierId }) => {
          const found = carrierOf(carrierId);
          return { carrier: found && { ...found, settings: undefined } };
        },
        getCarrierCredentials: async ({ ownerId, carrierId }) => {
          const carrier = carrierOf(carrierId);
          if (carrier?.ownerId !== ownerId) throw notFound("Carrier");
          return { carrier };
        },
        listCarriers: async ({ ownerId }) => {
          fakes.carrierLists++;
          return { carriers: fakes.carriers.filter((carrier) => carrier.ownerId === ownerId).map(masked) };
        },
      },
      LISTEN,
    ),
  );
  fakes.addresses.agent = await listen(
    serve(
      AgentServiceService,
      {
        findCallee: async ({ called, ofOwnerId }) => {
          const [agent, other] = (fakes.callees.get(called) ?? []).filter(
            ({ ownerId }) => ofOwnerId === undefined || ownerId === ofOwnerId,
          );
          return { agent: other ? undefined : agent };
        },
        getChannelSettings: async ({ agentId }) => {
          if (agentId === "agt_foreign") throw new ServiceError("forbidden", "You do not have access to this agent");
          if (fakes.goneAgents.has(agentId)) throw notFound("Agent");
          return { whatsapp: fakes.whatsapp };
        },
      },
      LISTEN,
    ),
  );
  fakes.addresses.conversation = await listen(
    serve(
      ConversationServiceService,
      {
        startConversation: async (request) => {
          const { conversationId } = request;
          const known = conversations.started.get(conversationId);
          if (!known && fakes.goneAgents.has(request.agentId)) throw notFound("Agent");
          await conversations.starting();
          if (!known && conversations.full) throw FULL;
          if (!known) conversations.started.set(conversationId, request);
          if (!known) conversations.said.set(conversationId, []);
          const status = conversations.ended.has(conversationId)
            ? ConversationStatus.CONVERSATION_STATUS_COMPLETED
            : ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS;
          const said = conversations.said.get(conversationId) ?? [];
          return { conversation: Conversation.fromPartial({ conversationId, status }), lastSequence: said.length };
        },
        appendTranscript: async (requests) => {
          let lastSequence = 0;
          for await (const { conversationId, sequence, message } of requests) {
            const said = conversations.said.get(conversationId) ?? [];
            if (sequence === said.length + 1) said.push(message?.content ?? "");
            lastSequence = said.length;
          }
          return { lastSequence };
        },
        completeTurn: async ({ turn }, { signal }) => {
          if (!turn) throw new Error("no turn");
          const { sessionId = "", idempotency, message } = turn;
          const key = idempotency?.key ?? "";
          const known = replies.get(key);
          if (known) return { ...known, sessionId, replayed: true };
          if (conversations.full) throw FULL;
          conversations.turns.push(turn);
          if (conversations.ended.has(sessionId)) throw new ServiceError("condition", "Session has ended");
          const response = await conversations.reply(turn, signal);
          const said = conversations.said.get(sessionId) ?? [];
          said.push(message, response);
          const answer = { response, replySequence: response === "" ? 0 : said.length };
          replies.set(key, answer);
          return { ...answer, sessionId, replayed: false };
        },
        checkRoom: async ({ agentId }) => {
          if (agentId === "agt_foreign") throw new ServiceError("forbidden", "You do not have access to this agent");
          if (conversations.full) throw FULL;
          return { agentVersion: undefined };
        },
        setDelivery: async ({ conversationId, sequence, delivery }) => {
          const name = nameOf(MESSAGE_DELIVERIES, delivery?.status ?? 0);
          const told = [name, delivery?.errorCode].filter(Boolean).join(" ");
          conversations.deliveries.set(`${conversationId} ${sequence}`, told);
          return {};
        },
      },
      LISTEN,
    ),
  );
  fakes.addresses.voice = await listen(
    serve(
      VoiceServiceService,
      {
        transcribe: async ({ audio }) => ({ text: await fakes.speech.transcribe(audio) }),
        speak: async ({ text }) => ({ audio: Buffer.from(await fakes.speech.speak(text)) }),
      },
      LISTEN,
    ),
  );
  return fakes;
}

function masked(carrier: Carrier): Carrier {
  const settings = CarrierSettings.fromPartial({ ...carrier.settings, accessToken: "****", appSecret: "****" });
  return { ...carrier, settings };
}
