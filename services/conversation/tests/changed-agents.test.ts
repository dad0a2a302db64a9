import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AgentServiceService,
  type PromptSource,
  UpdateAgentRequest,
  UpdateToolRequest,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Tool, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { type Persistence, persistently } from "@parley/shared/retry/persistently";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { createTestDatabase, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import { startScriptedModel } from "@parley/testkit/scripted-model";
import { startFakeDispatcher } from "./fake-dispatcher.ts";
import { type ChatClient, chatClient, createAgent, inline, type TestAgent, turn } from "./kit.ts";

/** The number of changes, each followed by a chat: four per agent, for each process of both. PARLEY_TEST_PAIRS=1000 for a long run. */
const PAIRS = Number(process.env.PARLEY_TEST_PAIRS ?? 16);
const EMPTY_PROMPT = { promptType: PromptType.PROMPT_TYPE_MAIN, idempotency: undefined, newOnly: false };
/** While a process is stopped, the calls that reach it fail. */
const UNTIL_SERVED: Persistence = { delaysMs: Array.from({ length: 20 }, () => 50), goesOn: isAway };
const TIMEOUT_MS = 60_000;
/** What a conversation process logs when the agent service was too slow for it, and when it is not any more. */
const AWAY = "the agent service does not answer";
const BACK = "the agent service answers again";

type Agents = ServiceClient<typeof AgentServiceService>;
type Prompts = ServiceClient<typeof PromptServiceService>;

const started: { name: string; process: ServiceProcess }[] = [];
const prompts: Prompts[] = [];
const agents: Agents[] = [];
const chats: ChatClient[] = [];

/** Two processes of each service, with each client bound to one of them. */
const [database, model, dispatcher] = await Promise.all([
  createTestDatabase(),
  startScriptedModel(),
  startFakeDispatcher(),
]);
// The name of the agent's tool, if it has one.
model.script = (call) => call.finish(call.asked.tools[0] ?? call.asked.system);
const folder = await mkdtemp(join(tmpdir(), "parley-agents-"));
// Each calls the other, so the addresses of one are known before it starts.
const agentSockets = [join(folder, "1.sock"), join(folder, "2.sock")] as const;
const promptProcesses = await startTwo("prompt", {
  DATABASE_URL: database.urls.prompt,
  PARLEY_AGENT_ADDRESS: `unix:${agentSockets.join(",")}`,
});
const agentProcesses = await startTwo(
  "agent",
  {
    DATABASE_URL: database.urls.agent,
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_PROMPT_ADDRESS: listOf(promptProcesses),
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  },
  agentSockets,
);
const conversations = await startTwo("conversation", {
  DATABASE_URL: database.urls.conversation,
  PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
  PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
  PARLEY_AGENT_ADDRESS: `unix:${agentSockets.join(",")}`,
  PARLEY_WEBHOOK_ADDRESS: dispatcher.address,
  PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
  PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
  PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
});
for (const { address } of promptProcesses)
  prompts.push(createClient(PromptServiceService, { peer: "prompt", address, timeoutMs: TIMEOUT_MS }));
for (const { address } of agentProcesses)
  agents.push(createClient(AgentServiceService, { peer: "agent", address, timeoutMs: TIMEOUT_MS }));
for (const { address } of conversations) chats.push(chatClient(address));

afterAll(async () => {
  for (const client of [...chats, ...agents, ...prompts]) client.close();
  await Promise.all(started.map((each) => each.process.stop("SIGKILL")));
  await Promise.all([dispatcher.stop(), model.stop()]);
  await database.drop();
  await rm(folder, { recursive: true });
});

/** @param sockets where they listen, if their addresses must be known before */
async function startTwo(
  name: string,
  env: Record<string, string>,
  sockets: readonly [string?, string?] = [],
): Promise<ServiceProcess[]> {
  const start = (socket: string | undefined) =>
    startServiceProcess(name, socket === undefined ? env : { ...env, PARLEY_LISTEN: `unix:${socket}` });
  const two = await Promise.all([start(sockets[0]), start(sockets[1])]);
  started.push(...two.map((process) => ({ name, process })));
  return two;
}

function isAway(error: unknown): boolean {
  return error instanceof ServiceError && ["unavailable", "deadline"].includes(error.kind);
}

/** Both addresses, for a client that alternates between them. */
function listOf(both: readonly ServiceProcess[]): string {
  return `ipv4:${both.map(({ address }) => address).join(",")}`;
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

type Change = (text: string, pair: number) => Promise<unknown>;

/** Ways to give an agent another prompt or tool, each with an agent that changes only in this way. */
async function changedAgents(): Promise<{ agent: TestAgent; change: Change }[]> {
  const ownerId = newOwner();
  const writePrompt = (text: string, pair: number, promptName = "shared") =>
    at(prompts, pair).createPrompt({ ...EMPTY_PROMPT, ownerId, promptName, promptContent: text });
  await writePrompt("at first", 0);
  const newAgent = () => createAgent({ agents: at(agents, 0), model }, { prompt: named("shared") }, ownerId);
  const [versioned, inlined, switched] = [await newAgent(), await newAgent(), await newAgent()];
  const { tool } = await at(agents, 0).createTool({ ownerId, tool: toolNamed("at_first"), idempotency: undefined });
  const toolId = tool?.toolId ?? "";
  const tooled = await createAgent({ agents: at(agents, 0), model }, { customTools: [{ toolId }] }, ownerId);
  const update = (agent: TestAgent, pair: number, prompt: PromptSource) =>
    at(agents, pair).updateAgent(UpdateAgentRequest.fromPartial({ ...agent, prompt }));
  return [
    { agent: versioned, change: writePrompt },
    {
      agent: tooled,
      change: (name, pair) =>
        at(agents, pair).updateTool(
          UpdateToolRequest.fromPartial({ ownerId, toolId, tool: toolNamed(name), fields: ["name"] }),
        ),
    },
    { agent: inlined, change: (text, pair) => update(inlined, pair, inline(text)) },
    {
      agent: switched,
      change: async (text, pair) => {
        await writePrompt(text, pair, `number ${pair % 2}`);
        await update(switched, pair + 1, named(`number ${pair % 2}`));
      },
    },
  ];
}

function toolNamed(name: string): Tool {
  const value = { method: ToolMethod.TOOL_METHOD_GET, url: "https://shop.example/" };
  return Tool.fromPartial({ name, description: "Looks up an order.", kind: { $case: "http", value } });
}

function named(promptName: string): PromptSource {
  return { source: { $case: "reference", value: { promptName, promptVersion: undefined } } };
}

/**
 * Asks again if the answer is not as expected and a process had waited too long for the agent service, as it may on a busy machine:
 * then the version that it last knew stands.
 */
async function inTime<T>(ask: () => Promise<T>, isExpected: (answer: T) => boolean): Promise<T> {
  const before = conversations.map(({ output }) => output);
  const answer = await ask();
  if (isExpected(answer)) return answer;
  const wasAway = () =>
    conversations.some(({ output }, at) => output.lastIndexOf(AWAY) > (before[at] ?? "").lastIndexOf(BACK));
  const isExcused = await eventually(() => expect(wasAway()).toBe(true)).then(
    () => true,
    () => false,
  );
  return isExcused ? inTime(ask, isExpected) : answer;
}

/** Changes an agent and chats, repeatedly. @returns the chats that did not see the change before them */
async function changeAndChat({ agent, change }: { agent: TestAgent; change: Change }, pairs: number) {
  const stale: string[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const text = `text_${pair}_of_${agent.agentId}`;
    await persistently(() => change(text, pair >> 1), UNTIL_SERVED);
    const chat = () => at(chats, pair).completeTurn({ turn: turn(agent) });
    const { response } = await inTime(
      () => persistently(chat, UNTIL_SERVED),
      (said) => said.response === text,
    );
    if (response !== text) stale.push(`${text}: ${response}`);
  }
  return stale;
}

test("a chat that follows a change sees it, whichever processes made the change and run the chat", async () => {
  const all = await changedAgents();
  const stale = await Promise.all(all.map((changed) => changeAndChat(changed, Math.ceil(PAIRS / all.length))));
  expect(stale.flat()).toEqual([]);
}, 120_000);

// No conversation process is told of changes, so one that stands still concerns nobody.
test("a chat that follows a change sees it while a process of the prompt service stands still, and after that", async () => {
  const changed = await changedAgents();
  // So that each process remembers the agents.
  for (const { agent } of changed) for (const chat of chats) await chat.completeTurn({ turn: turn(agent) });
  const frozen = started.find((each) => each.name === "prompt")?.process as ServiceProcess;
  process.kill(frozen.pid, "SIGSTOP");
  const away = prompts.shift() as Prompts;
  const stale = [];
  try {
    stale.push(...(await Promise.all(changed.map((each) => changeAndChat(each, 2)))));
  } finally {
    prompts.unshift(away);
    process.kill(frozen.pid, "SIGCONT");
  }
  for (const { agent, change } of changed) {
    // At once, while the processes may still remember the earlier state.
    const textsOf = (said: readonly { response: string }[]) => new Set(said.map(({ response }) => response));
    const askAll = () =>
      Promise.all(chats.map((chat) => persistently(() => chat.completeTurn({ turn: turn(agent) }), UNTIL_SERVED)));
    expect(textsOf(await inTime(askAll, (said) => textsOf(said).size === 1)).size).toBe(1);
    stale.push(await changeAndChat({ agent, change }, 2));
  }
  expect(stale.flat()).toEqual([]);
}, 120_000);

test("chats go on with a published version while a process of the agent service stands still, and see each change after that", async () => {
  const changed = await changedAgents();
  const answered = async (agent: TestAgent) =>
    Promise.all(
      chats.map(async (chat) => {
        const said = () => chat.completeTurn({ turn: turn(agent) });
        return (await persistently(said, UNTIL_SERVED)).response;
      }),
    );
  const before = await Promise.all(changed.map(({ agent }) => answered(agent)));
  const frozen = started.find((each) => each.name === "agent")?.process as ServiceProcess;
  process.kill(frozen.pid, "SIGSTOP");
  const away = agents.shift() as Agents;
  try {
    for (const [at, { agent, change }] of changed.entries()) {
      await persistently(() => change(`changed_${at}`, 0), UNTIL_SERVED);
      for (const response of await answered(agent)) expect([before[at]?.[0], `changed_${at}`]).toContain(response);
    }
  } finally {
    agents.unshift(away);
    process.kill(frozen.pid, "SIGCONT");
  }
  expect((await Promise.all(changed.map((each) => changeAndChat(each, 2)))).flat()).toEqual([]);
}, 120_000);
