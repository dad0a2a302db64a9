import { PassThrough } from "node:stream";
import { AgentType, type LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  AgentServiceService,
  CreateAgentRequest,
  type PromptSource,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ChatSession, Message } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  RunTurnsRequest,
  Turn,
  type TurnStart,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { nameOf, ROLES } from "@parley/shared/domain/api-names";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import { readStatus } from "@parley/shared/rpc/status";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS } from "@parley/testkit/database";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { type ScriptedModel, startScriptedModel } from "@parley/testkit/scripted-model";
import { sharedAgents } from "@parley/testkit/shared-agents";
import postgres from "postgres";
import { readConversationConfig } from "../src/config.ts";
import { startConversation } from "../src/service.ts";
import type { ToolSource } from "../src/tools/toolbox.ts";
import { type FakeDispatcher, startFakeDispatcher } from "./fake-dispatcher.ts";

export type ChatClient = ServiceClient<typeof ConversationServiceService>;

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface TestChat {
  chat: ChatClient;
  agents: ServiceClient<typeof AgentServiceService>;
  model: ScriptedModel;
  dispatcher: FakeDispatcher;
  clock: FakeClock;
  /** The conversation service's tables. */
  sql: postgres.Sql;
  /** One more connection of a superuser's. */
  admin: postgres.Sql;
  /** What a further process of the conversation service needs. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** The service under test in this process, its clock standing still, with the shared agent and prompt service. */
export async function startTestChat(
  env: Record<string, string> = {},
  tools: readonly ToolSource[] = [],
): Promise<TestChat> {
  const [database, model, dispatcher] = await Promise.all([
    createTestDatabase(),
    startScriptedModel(),
    startFakeDispatcher(),
  ]);
  const clock = fakeClock();
  const { agentAddress } = sharedAgents();
  const own = {
    DATABASE_URL: database.urls.conversation,
    ...FEW_CONNECTIONS,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: agentAddress,
    PARLEY_WEBHOOK_ADDRESS: dispatcher.address,
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    OPENAI_API_KEY: "sk-ours",
    OPENAI_BASE_URL: model.baseUrl,
    PARLEY_LLM_RETRY_MS: "1",
    ...env,
  };
  const running: Running = await startService(own, clock, tools);
  const chat = chatClient(running.address);
  const agents = createClient(AgentServiceService, { peer: "agent", address: agentAddress, timeoutMs: TIMEOUT_MS });
  const open = (url: string) => postgres(url, { max: 1, onnotice: () => {} });
  const [sql, admin] = [open(database.urls.conversation), open(database.adminUrl)];
  return {
    chat,
    agents,
    model,
    dispatcher,
    clock,
    sql,
    admin,
    env: own,
    stop: async () => {
      chat.close();
      agents.close();
      await Promise.all([sql.end(), admin.end(), model.stop()]);
      await running.stop();
      await dispatcher.stop();
      await database.drop();
    },
  };
}

/** One more service on the same database, in this process too. */
export async function startFurtherChat(
  { env, clock }: TestChat,
  given: Record<string, string>,
): Promise<{ chat: ChatClient; stop(): Promise<void> }> {
  const running = await startService({ ...env, ...given }, clock);
  const chat = chatClient(running.address);
  return {
    chat,
    stop: async () => {
      chat.close();
      await running.stop();
    },
  };
}

/**
 * No earlier answer of the agent service stands: on a busy machine it may take longer than a turn then waits for it, and a turn
 * after a change would still see the agent as it was.
 */
function startService(env: Record<string, string>, clock: FakeClock, tools?: readonly ToolSource[]): Promise<Running> {
  let passedMs = 0;
  const agentsMs = () => {
    passedMs += HOUR_MS;
    return passedMs;
  };
  return startConversation(readConversationConfig(env), silentLogger, clock, tools, agentsMs);
}

export function chatClient(address: string): ChatClient {
  return createClient(ConversationServiceService, { peer: "conversation", address, timeoutMs: TIMEOUT_MS });
}

export interface TestAgent {
  ownerId: string;
  agentId: string;
}

/** An agent whose model is the scripted one. */
export async function createAgent(
  { agents, model }: Pick<TestChat, "agents" | "model">,
  given: Partial<CreateAgentRequest> = {},
  ownerId = newOwner(),
): Promise<TestAgent> {
  const agentType = AgentType.AGENT_TYPE_INBOUND;
  const request = CreateAgentRequest.fromPartial({ ownerId, agentName: "Front desk", agentType });
  const { agent } = await agents.createAgent({ ...request, llm: llmOf(model), prompt: inline("Be brief."), ...given });
  return { ownerId, agentId: agent?.agentId ?? "" };
}

export function llmOf({ baseUrl }: ScriptedModel): LlmConfig {
  const params = { baseUrl, apiKey: "sk-customer-0000", apiType: undefined, temperature: 0.5 };
  return { providerName: "CUSTOM_LLM", modelName: "scripted", params, fallbacks: [] };
}

export function inline(content: string): PromptSource {
  return { source: { $case: "content", value: content } };
}

export function turn(agent: TestAgent, message = "Hi", given: Partial<Turn> = {}): Turn {
  return Turn.fromPartial({ ...agent, message, ...given });
}

/** A whole turn. */
export async function say({ chat }: Pick<TestChat, "chat">, agent: TestAgent, message?: string, sessionId?: string) {
  return chat.completeTurn({ turn: turn(agent, message, { sessionId }) });
}

/** Characters that a streamed turn may be ahead of its reader, as in the gateway. */
const CREDIT = 16 * 1024;

type Heard = { sessionId: string; text?: never } | { text: string; sessionId?: never };

/** A streamed turn, alone in its stream, read piece by piece. */
export async function* listen(chat: ChatClient, asked: Turn, options: CallOptions = {}): AsyncGenerator<Heard, void> {
  const requests = new PassThrough({ objectMode: true });
  const ask = (request: Partial<RunTurnsRequest>) => requests.write(RunTurnsRequest.fromPartial(request));
  ask({ starts: [turnStart(asked)] });
  let isOpen = false;
  try {
    for await (const { news } of chat.runTurns(requests, { origin: options.origin })) {
      isOpen = true;
      for (const { number, started, text, end } of news) {
        if (started) yield { sessionId: started.sessionId };
        if (text !== "") yield { text };
        ask({ credits: [{ number, characters: text.length }] });
        if (!end) continue;
        requests.end();
        if (end.errorReplayed) options.onReplayed?.();
        if (end.error) throw readStatus(end.error);
        if (end.refused) throw new ServiceError("unavailable", "the replica is stopping");
      }
    }
  } catch (error) {
    // A connection that has reached its age refuses a stream. The next one takes it, as for the gateway.
    const isRefused = !isOpen && error instanceof ServiceError && error.kind === "unavailable";
    if (!isRefused || !(await chat.isReachable(TIMEOUT_MS))) throw error;
    yield* listen(chat, asked, options);
  }
}

export function turnStart(asked: Turn, given: Partial<TurnStart> = {}): TurnStart {
  const numbered = { number: 1, turn: asked, requestId: "req", traceparent: "", actor: "" };
  return { ...numbered, streamed: true, credit: CREDIT, timeoutMs: TIMEOUT_MS, ...given };
}

/** A streamed turn, read to its end. */
export async function hear(chat: ChatClient, asked: Turn): Promise<{ sessionId: string; chunks: string[] }> {
  let sessionId = "";
  const chunks: string[] = [];
  for await (const heard of listen(chat, asked)) {
    if ("sessionId" in heard) sessionId = heard.sessionId ?? "";
    else chunks.push(heard.text ?? "");
  }
  return { sessionId, chunks };
}

export async function session({ chat }: TestChat, { ownerId }: TestAgent, sessionId: string): Promise<ChatSession> {
  const { session: found } = await chat.getChatSession({ ownerId, sessionId });
  if (!found) throw new Error("the response is empty");
  return found;
}

/** What was said in a session, as `role: content`. */
export async function transcript(service: TestChat, agent: TestAgent, sessionId: string): Promise<string[]> {
  return (await session(service, agent, sessionId)).messages.map(line);
}

export function line({ role, content }: Message): string {
  return `${nameOf(ROLES, role)}: ${content}`;
}

/** A request that its caller can leave. */
export function leavable(): { origin: CallOrigin; leave(): void } {
  const gone = new AbortController();
  return { origin: { requestId: "req", signal: gone.signal }, leave: () => gone.abort() };
}

/** How a call failed, in the terms a test asserts. @throws when it did not fail */
export async function failure(
  call: Promise<unknown>,
): Promise<{ kind: string; detail: string; sessionId: string | undefined }> {
  const { kind, detail, metadata } = await serviceErrorOf(call);
  return { kind, detail, sessionId: metadata.session_id };
}
