import { afterAll, afterEach, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { type AcquirePromptsRequest, PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import {
  type AgentClient,
  agentClient,
  byName,
  changePrompt,
  create,
  createPrompt,
  creation,
  inline,
  read,
  startTestAgents,
  update,
} from "./kit.ts";

const POOL = 3;
/** Of a kind: two kinds are twice as many as the connections of a process, those for long-running work included. */
const CHANGES = 6;

/** The requests that reached the prompt service, and the promise that lets them through. */
let acquired: AcquirePromptsRequest[] = [];
let thawed = Promise.withResolvers<void>();
thawed.resolve();
/** The next answer about prompts arrives late. */
let held: { read(): void; until: Promise<void> } | null = null;

/** Two processes of the agent service with few connections, and between them and the prompt service one that can stall. */
const service = await startTestAgents();
const { prompts } = service;
// The processes have the system's clock: what is promised for later is due for none of them now.
service.clock.advance(Date.now() - service.clock.now().getTime());
const standIn = await serve(
  PromptServiceService,
  {
    acquirePrompts: async (request) => {
      acquired.push(request);
      await thawed.promise;
      return arriving(prompts.acquirePrompts(request));
    },
    setPromptReferences: (request) => prompts.setPromptReferences(request),
    batchGetPrompts: (request) => arriving(prompts.batchGetPrompts(request)),
  },
  { address: "127.0.0.1:0", log: silentLogger, drainMs: 0 },
);
const env = { ...service.env(standIn.address), PARLEY_DATABASE_POOL: String(POOL) };
const processes = await Promise.all([1, 2].map(() => startServiceProcess("agent", env)));
const clients = processes.map(({ address }) => agentClient(address));
afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all(processes.map((process) => process.stop()));
  await standIn.stop();
  await service.stop();
});
afterEach(() => {
  thawed.resolve();
});

async function arriving<T>(answer: Promise<T>): Promise<T> {
  const read = await answer;
  const late = held;
  held = null;
  late?.read();
  await late?.until;
  return read;
}

/** Has the next answer about prompts arrive after something else. @param asking asks for it */
async function overtaken<T>(asking: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> {
  const [isRead, mayArrive] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  held = { read: isRead.resolve, until: mayArrive.promise };
  const asked = asking();
  await isRead.promise;
  await meanwhile();
  mayArrive.resolve();
  return asked;
}

function freeze(): void {
  acquired = [];
  thawed = Promise.withResolvers();
}

function client(at: number): AgentClient {
  const found = clients[at % clients.length];
  if (!found) throw new Error("there is no client");
  return found;
}

async function agentsOf(ownerId: string): Promise<number> {
  const [row] = await service.sql<[{ count: number }]>`
    select count(*)::integer as count from agents where owner_id = ${ownerId}`;
  return row.count;
}

test("while the prompt service hangs, changes that wait for it hold no connection, and other owners' reads and writes continue", async () => {
  const other = newOwner();
  // Each agent has its own owner, because one owner's calls are served a few at a time.
  const owners = Array.from({ length: CHANGES }, newOwner);
  const agents = await Promise.all(
    owners.map((owner) => create(service.agents, creation(owner, { prompt: inline("One.") }))),
  );
  const others = await create(service.agents, creation(other));
  freeze();
  let ended = 0;
  const ending = () => {
    ended++;
  };
  const creating = owners.map((owner, at) => {
    const idempotency = at % 2 === 0 ? { key: `k${at}`, fingerprint: Buffer.alloc(32) } : undefined;
    return client(0).createAgent(creation(owner, { prompt: inline(`${at}`), idempotency }));
  });
  const updating = agents.map((agent) => client(0).updateAgent(update(agent, { prompt: inline("Two.") })));
  const changes = [...creating, ...updating];
  for (const change of changes) change.then(ending, ending);
  // Many more changes than connections.
  await eventually(() => expect(acquired).toHaveLength(2 * CHANGES));
  expect((await read(client(0), others)).agentId).toBe(others.agentId);
  expect((await client(0).listAgents({ ...LIST, ownerId: other })).total).toBe(1);
  expect(
    (await client(0).updateAgent(update(others, { agentName: "Ben", agentTips: { values: ["x"] } }))).agent,
  ).toMatchObject({
    agentName: "Ben",
  });
  expect(ended).toBe(0);
  thawed.resolve();
  expect((await Promise.all(changes)).map(({ agent }) => agent?.prompt?.promptContent)).toEqual([
    ...Array.from({ length: CHANGES }, (_, at) => `${at}`),
    ...Array(CHANGES).fill("Two."),
  ]);
  expect(await Promise.all(owners.map(agentsOf))).toEqual(Array(CHANGES).fill(2));
});

test("when creations with one key run in two processes, only one reaches the prompt service, and all return its agent", async () => {
  const owner = newOwner();
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  freeze();
  const creating = Array.from({ length: CHANGES }, (_, at) =>
    client(at).createAgent(creation(owner, { prompt: inline("Once."), idempotency })),
  );
  await eventually(() => expect(acquired).toHaveLength(1));
  thawed.resolve();
  const answers = await Promise.all(creating);
  expect(new Set(answers.map(({ agent }) => JSON.stringify(agent))).size).toBe(1);
  expect(acquired).toHaveLength(1);
  expect(await agentsOf(owner)).toBe(1);
});

test("changes of one agent at two processes happen one after the other: its name and its prompt come from the same change", async () => {
  const agent = await create(service.agents, creation(newOwner(), { prompt: inline("First.") }));
  freeze();
  const changing = Array.from({ length: 10 }, (_, at) =>
    client(at).updateAgent(update(agent, { agentName: `${at}`, prompt: inline(`${at}`) })),
  );
  await eventually(() => expect(acquired).toHaveLength(1));
  thawed.resolve();
  const versions = (await Promise.all(changing)).map((answer) => answer.agent?.prompt?.promptVersion ?? 0);
  expect(versions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, at) => at + 2));
  const left = await read(service.agents, agent);
  expect(left.prompt?.promptContent).toBe(left.agentName);
});

test("of two changes of a prompt, agents never go back to the earlier one, though it was read before the later one was followed and arrives after it", async () => {
  const ownerId = newOwner();
  await createPrompt(service.prompts, ownerId, "sales", "One.");
  const agent = await create(service.agents, creation(ownerId, { prompt: byName("sales") }));
  const follow = (at: number) => client(at).followPrompt({ ownerId, promptName: "sales" });
  const write = (promptContent: string) =>
    service.prompts.updatePrompt({ ownerId, promptName: "sales", promptContent, idempotency: undefined });
  await write("Two.");
  await overtaken(
    () => follow(0),
    () => write("Three.").then(() => follow(1)),
  );
  expect((await read(service.agents, agent)).prompt?.promptContent).toBe("Three.");
  const versions = await service.sql`
    select content -> 'prompt' ->> 'promptVersion' as prompt from agent_versions where owner_id = ${ownerId}
    order by agent_version`;
  expect(versions.map(({ prompt }) => prompt)).toEqual(["1", "3"]);
});

test("an agent that begins to follow a prompt while it changes has the change", async () => {
  const ownerId = newOwner();
  await createPrompt(service.prompts, ownerId, "sales", "One.");
  const write = (promptContent: string) => () =>
    changePrompt({ agents: client(1), prompts: service.prompts }, ownerId, "sales", promptContent);
  const agent = await overtaken(() => create(client(0), creation(ownerId, { prompt: byName("sales") })), write("Two."));
  expect((await read(service.agents, agent)).prompt?.promptContent).toBe("Two.");
  await overtaken(() => client(0).updateAgent(update(agent, { prompt: byName("sales") })), write("Three."));
  expect((await read(service.agents, agent)).prompt?.promptContent).toBe("Three.");
});

test("a change that was overtaken while it paused stores nothing and leaves the other one's prompt in use", async () => {
  const owner = newOwner();
  for (const name of ["a", "b"]) await createPrompt(service.prompts, owner, name);
  const agent = await create(service.agents, creation(owner));
  freeze();
  const heldUp = failure(client(0).updateAgent(update(agent, { prompt: byName("a") })));
  await eventually(() => expect(acquired).toHaveLength(1));
  // As if its process had paused for this long.
  await service.sql`update claims set held_until = now() where owner_id = ${owner}`;
  const taking = client(1).updateAgent(update(agent, { prompt: byName("b") }));
  await eventually(() => expect(acquired).toHaveLength(2));
  thawed.resolve();
  await taking;
  expect(await heldUp).toMatchObject({ kind: "unavailable" });
  expect((await read(service.agents, agent)).prompt?.promptName).toBe("b");
  expect(await failure(service.prompts.deletePrompt(removal(agent, "b")))).toMatchObject({ kind: "conflict" });
  await service.prompts.deletePrompt(removal(agent, "a"));
});

function removal({ ownerId }: Agent, promptName: string) {
  return { ownerId, promptName, idempotency: undefined };
}

const LIST = { page: { number: 1, size: 1 }, search: "", agentType: 0, agentCategory: "" } as const;
