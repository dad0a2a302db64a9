import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { silentLogger } from "@parley/shared/log";
import { type Handlers, type RunningServer, serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import {
  type AgentClient,
  agentClient,
  byName,
  change,
  create,
  createPrompt,
  creation,
  deletion,
  inline,
  startTestAgents,
} from "./kit.ts";

type Handler<M extends keyof Handlers<typeof PromptServiceService>> = NonNullable<
  Handlers<typeof PromptServiceService>[M]
>;

const service = await startTestAgents();
afterAll(() => service.stop());

async function deletePrompt(ownerId: string, promptName: string): Promise<string> {
  const deleted = service.prompts.deletePrompt({ ownerId, promptName, idempotency: undefined });
  return deleted.then(
    () => "deleted",
    (error) => error.detail,
  );
}

async function hasPrompt(ownerId: string, promptName: string): Promise<boolean> {
  const { results } = await service.prompts.batchGetPrompts({
    items: [{ ownerId, reference: { promptName } }],
    forPage: false,
  });
  return results[0]?.prompt !== undefined;
}

function internal({ agentId }: Agent): string {
  return `agent-${agentId}`;
}

/** The promises that are left; none once all are kept. */
async function promises(): Promise<number> {
  const [row] = await service.sql<[{ count: string }]>`select count(*) from jobs where owner_id <> ''`;
  return Number(row.count);
}

describe("a prompt in use", () => {
  test("cannot be deleted, and the refusal names the agent by its current name", async () => {
    const owner = newOwner();
    await createPrompt(service.prompts, owner, "sales");
    const agent = await create(service.agents, creation(owner, { agentName: "Anna", prompt: byName("sales") }));
    expect(await deletePrompt(owner, "sales")).toStartWith("Prompt sales is used by the agent Anna:");
    await change(service.agents, agent, { agentName: "Ben" });
    expect(await deletePrompt(owner, "sales")).toStartWith("Prompt sales is used by the agent Ben:");
    expect(await deletePrompt(owner, internal(agent))).toBe("Prompt not found");
  });

  test("can be deleted once the last agent uses another prompt or none, or is gone", async () => {
    const owner = newOwner();
    for (const name of ["a", "b", "c"]) await createPrompt(service.prompts, owner, name);
    const agent = await create(service.agents, creation(owner, { prompt: byName("a") }));
    const other = await create(service.agents, creation(owner, { prompt: byName("a") }));
    await change(service.agents, agent, { prompt: byName("b") });
    expect(await deletePrompt(owner, "a")).toContain("is used by");
    await change(service.agents, other, { prompt: inline("Own.") });
    expect(await deletePrompt(owner, "a")).toBe("deleted");
    await change(service.agents, agent, { clear: ["prompt"] });
    expect(await deletePrompt(owner, "b")).toBe("deleted");
    await change(service.agents, agent, { prompt: byName("c") });
    await service.agents.deleteAgent(deletion(agent));
    expect(await deletePrompt(owner, "c")).toBe("deleted");
  });
});

test("a prompt that a refused change would have given an agent can be deleted at once", async () => {
  const owner = newOwner();
  const agentMobileNumbers = ["+14155550193"];
  await createPrompt(service.prompts, owner, "sales");
  const [agent] = [
    await create(service.agents, creation(owner)),
    await create(service.agents, creation(owner, { agentMobileNumbers })),
  ];
  const taken = { prompt: byName("sales"), agentMobileNumbers: { values: agentMobileNumbers } };
  expect(await failure(change(service.agents, agent, taken))).toMatchObject({ kind: "conflict" });
  expect(await deletePrompt(owner, "sales")).toBe("deleted");
});

test("an agent that gave up its inline prompt finds the earlier versions when it gets a new one", async () => {
  const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
  await change(service.agents, agent, { clear: ["prompt"] });
  const again = await change(service.agents, agent, { prompt: inline("Two.") });
  expect(again.prompt).toMatchObject({ promptName: internal(agent), promptVersion: 2 });
});

test("deleting an agent removes its internal prompts only", async () => {
  const owner = newOwner();
  const analysis = { enabled: true, prompt: inline("Sum up."), schema: undefined };
  const agent = await create(service.agents, creation(owner, { prompt: inline("Hers."), analysis }));
  const other = await create(service.agents, creation(owner, { prompt: inline("His.") }));
  await service.agents.deleteAgent(deletion(agent));
  expect(await hasPrompt(owner, internal(agent))).toBe(false);
  expect(await hasPrompt(owner, `${internal(agent)}-analysis`)).toBe(false);
  expect(await hasPrompt(owner, internal(other))).toBe(true);
});

test("a successful change leaves no promise behind", async () => {
  const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
  await change(service.agents, agent, { prompt: inline("Two.") });
  await change(service.agents, agent, { agentTips: { values: ["x"] } });
  await service.agents.deleteAgent(deletion(agent));
  expect(await promises()).toBe(0);
});

describe("when processes die or hang", () => {
  let standIn: RunningServer;
  let running: ServiceProcess;
  let agents: AgentClient;
  /** What the prompt service does once instead of its own work. */
  let acquire: Handler<"acquirePrompts"> | null;
  let setReferences: Handler<"setPromptReferences"> | null;

  /** Between the agent service and the real prompt service. */
  beforeAll(async () => {
    const { prompts } = service;
    const handlers: Handlers<typeof PromptServiceService> = {
      acquirePrompts: (request, call) => (acquire ? acquire(request, call) : prompts.acquirePrompts(request)),
      setPromptReferences: (request, call) =>
        setReferences ? setReferences(request, call) : prompts.setPromptReferences(request),
      batchGetPrompts: (request) => prompts.batchGetPrompts(request),
    };
    standIn = await serve(PromptServiceService, handlers, { address: "127.0.0.1:0", log: silentLogger, drainMs: 0 });
    await start();
  });

  beforeEach(() => {
    acquire = null;
    setReferences = null;
  });

  async function start(): Promise<void> {
    running = await startServiceProcess("agent", service.env(standIn.address));
    agents = agentClient(running.address);
  }

  afterAll(async () => {
    agents.close();
    await running.stop();
    await standIn.stop();
  });

  /** Does the work of the jobs at once. */
  async function letPromisesFallDue(): Promise<void> {
    await service.sql`update jobs set due_at = now()`;
    await service.sql`update claims set held_until = now()`;
    await eventually(async () => expect(await promises()).toBe(0));
  }

  test("a process killed between acquiring a prompt and storing its agent leaves no reference or prompt forever", async () => {
    const owner = newOwner();
    await createPrompt(service.prompts, owner, "sales");
    const analysis = { enabled: true, prompt: inline("Sum up."), schema: undefined };
    let agentId = "";
    acquire = async (request) => {
      const response = await service.prompts.acquirePrompts(request);
      agentId = request.agentId;
      await running.stop("SIGKILL");
      return response;
    };
    const creating = agents.createAgent(creation(owner, { prompt: byName("sales"), analysis }));
    expect(await failure(creating)).toMatchObject({ kind: "unavailable" });
    agents.close();
    expect(await deletePrompt(owner, "sales")).toContain("is used by");
    expect(await hasPrompt(owner, `agent-${agentId}-analysis`)).toBe(true);

    await start();
    await letPromisesFallDue();
    expect(await deletePrompt(owner, "sales")).toBe("deleted");
    expect(await hasPrompt(owner, `agent-${agentId}-analysis`)).toBe(false);
  });

  test("a creation ends with its caller and stores nothing", async () => {
    const owner = newOwner();
    acquire = () => new Promise(() => {});
    const creating = agents.createAgent(creation(owner, { prompt: inline("x") }), { timeoutMs: 400 });
    expect(await failure(creating)).toMatchObject({ kind: "deadline" });
    const [row] = await service.sql<[{ count: string }]>`select count(*) from agents where owner_id = ${owner}`;
    expect(row.count).toBe("0");
  });

  test("deleting works, and the references are released when the service is back", async () => {
    const owner = newOwner();
    await createPrompt(service.prompts, owner, "sales");
    const agent = await create(agents, creation(owner, { prompt: byName("sales") }));
    setReferences = () => Promise.reject(new Error("broken"));
    expect((await agents.deleteAgent(deletion(agent))).agentName).toBe(agent.agentName);
    expect(await deletePrompt(owner, "sales")).toContain("is used by");
    setReferences = null;
    await letPromisesFallDue();
    expect(await deletePrompt(owner, "sales")).toBe("deleted");
  });

  test("while the prompt service is away agents can be read, also with prompts, and those without one created", async () => {
    const owner = newOwner();
    const withPrompt = await create(agents, creation(owner, { prompt: inline("x") }));
    await standIn.stop();
    const plain = await create(agents, creation(owner));
    const { results } = await agents.batchGetAgents({ keys: [{ ownerId: owner, agentId: plain.agentId }] });
    expect(results[0]?.agent?.agentName).toBe(plain.agentName);
    const unreachable = { kind: "unavailable", detail: "The prompt service is unreachable. Try again.", paths: [] };
    const read = await agents.batchGetAgents({ keys: [withPrompt] });
    expect(read.results[0]?.agent?.prompt?.promptContent).toBe("x");
    expect(await failure(agents.createAgent(creation(owner, { prompt: inline("x") })))).toEqual(unreachable);
  });
});
