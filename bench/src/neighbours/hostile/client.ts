import { connect, type Socket } from "node:net";
import {
  CallingType,
  ConversationType,
  Message,
  Outcome,
  Role,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import type { Orders } from "./orders.ts";

/** What an attack works with. */
export interface Hostile {
  url: string;
  apiKey: string;
  ownerId: string;
  /** Number of requests by outcome: a status, or why there was none. */
  tally: Record<string, number>;
  /** Base URL of a hostile model. */
  model(behavior: string): string;
  /** URL of a hostile webhook endpoint. */
  hook(behavior: string): string;
  /** Sends a request and discards the response. @returns the status, 0 when the request failed; never throws */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<number>;
  /** The same, but counts nothing. @throws unless it is a success */
  get<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** @returns the agent's id */
  createAgent(baseUrl: string, fields?: object): Promise<string>;
  createDestination(url: string): Promise<void>;
  /** Starts conversations as a voice runtime does. @returns functions that end them */
  startConversations(agentId: string, count: number, said?: readonly string[]): Promise<(() => Promise<unknown>)[]>;
  /** Opens sockets, which read nothing and stay open. */
  hold(count: number, onConnect: (socket: Socket, number: number) => void): Promise<void>;
}

const CALL = {
  type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
  callingType: CallingType.CALLING_TYPE_INBOUND,
  toMobileNumber: "+14155550123",
  fromMobileNumber: "+14155550124",
  telephonyProvider: "TWILIO",
};
const AT_ONCE = 32;
const CONNECT_AT_ONCE = 100;
const REQUEST_MS = 60_000;
const RPC_MS = 60_000;

export function createHostile(orders: Orders): Hostile {
  const { url, apiKey, ownerId, endpointsUrl } = orders;
  const tally: Record<string, number> = {};
  const conversations = createClient(ConversationServiceService, {
    peer: "conversation",
    address: orders.conversationAddress,
    timeoutMs: RPC_MS,
  });
  const dispatcher = createClient(WebhookDispatcherServiceService, {
    peer: "webhook-dispatcher",
    address: orders.dispatcherAddress,
    timeoutMs: RPC_MS,
  });
  const count = (key: string) => {
    tally[key] = (tally[key] ?? 0) + 1;
  };

  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { "X-API-Key": apiKey, ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });

  const hostile: Hostile = {
    url,
    apiKey,
    ownerId,
    tally,
    model: (behavior) => `${endpointsUrl}/model/${behavior}/v1`,
    hook: (behavior) => `${endpointsUrl}/hook/${behavior}`,
    async request(method, path, body, headers) {
      try {
        const response = await send(method, path, body, headers);
        for await (const _ of response.body ?? []);
        count(String(response.status));
        return response.status;
      } catch (error) {
        count(error instanceof Error ? error.name : String(error));
        return 0;
      }
    },
    async get<T>(method: string, path: string, body?: unknown) {
      const response = await send(method, path, body);
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
    async createAgent(baseUrl, fields = {}) {
      const params = { base_url: baseUrl, api_key: "any" };
      const { id } = await hostile.get<{ id: string }>("POST", "/v1/public/agents", {
        agent_name: "Hostile",
        agent_type: "INBOUND",
        prompt_content: "Be brief.",
        llm: { provider_name: "CUSTOM_LLM", model_name: "hostile", params },
        ...fields,
      });
      return id;
    },
    async createDestination(to) {
      const requestType = RequestType.REQUEST_TYPE_POST;
      await dispatcher.createDestination({ ownerId, name: "Hostile", url: to, requestType, enabled: true });
    },
    async startConversations(agentId, howMany, said = []) {
      const ids = Array.from({ length: howMany }, newUuid);
      await eachOf(ids, AT_ONCE, async (conversationId) => {
        await conversations.startConversation(
          StartConversationRequest.fromPartial({ ...CALL, ownerId, agentId, conversationId }),
        );
        if (said.length === 0) return;
        await conversations.appendTranscript(
          (async function* () {
            for (const [at, content] of said.entries()) {
              const role = at % 2 === 0 ? Role.ROLE_USER : Role.ROLE_ASSISTANT;
              yield {
                ownerId,
                conversationId,
                sequence: at + 1,
                message: Message.fromPartial({ role, content }),
              };
            }
          })(),
        );
      });
      return ids.map((conversationId) => async () => {
        const ended = { ownerId, conversationId, outcome: Outcome.OUTCOME_SUCCESS };
        const nothing = {
          durationSeconds: undefined,
          recordingUrl: undefined,
          answeredAt: undefined,
          notes: undefined,
        };
        await conversations.completeConversation({ ...ended, ...nothing }).then(
          () => count("ended"),
          (error) => count(String(error?.kind ?? error)),
        );
      });
    },
    async hold(howMany, onConnect) {
      const { hostname, port } = new URL(url);
      await eachOf(Array.from({ length: howMany }).keys().toArray(), CONNECT_AT_ONCE, async (number) => {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.pause();
        socket.on("error", () => count("connection lost"));
        await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
        if (!socket.destroyed) {
          count("connected");
          onConnect(socket, number);
        }
      });
    },
  };
  return hostile;
}

/** Does the work for each item, a few at a time. */
export async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Runs workers that repeat the same work. */
export async function again(
  workers: number,
  work: (worker: number, round: number) => Promise<unknown>,
): Promise<never> {
  const one = async (worker: number) => {
    for (let round = 0; ; round++) await work(worker, round);
  };
  return Promise.race(Array.from({ length: workers }, (_, worker) => one(worker)));
}

/** The bytes of an HTTP/1.1 request without its body. */
export function head(
  { url, apiKey }: Pick<Hostile, "url" | "apiKey">,
  method: string,
  path: string,
  headers: Record<string, string | number> = {},
): string {
  const all = { Host: new URL(url).host, "X-API-Key": apiKey, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
