import { afterAll, beforeAll, expect, test } from "bun:test";
import { ToolInterruption, ToolMethod, ToolRun, ToolType } from "@parley/proto/parley/agent/v1/tool.ts";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { readAgentConfig } from "../src/config.ts";
import { resealTools } from "../src/tools/reseal.ts";
import {
  change,
  create,
  creation,
  deletion,
  present,
  read,
  runtimes,
  startTestAgents,
  type TestAgents,
  update,
} from "./kit.ts";
import { byModel, clientTool, createTool, httpTool, parameter, startSecrets, toolChange } from "./tools-kit.ts";

const NO_TOOL = "tol_00000000000000000000000000";
const NO_AGENT = "agt_00000000000000000000000000";

let accounts: Awaited<ReturnType<typeof startSecrets>>;
let service: TestAgents;
beforeAll(async () => {
  accounts = await startSecrets();
  service = await startTestAgents({ PARLEY_ACCOUNT_ADDRESS: accounts.address });
});
afterAll(async () => {
  await service.stop();
  await accounts.stop();
});

const runtimeOf = async (ownerId: string, agentId: string) => {
  const { results } = await runtimes(service.agents, [{ ownerId, agentId }]);
  return present(results[0]?.runtime);
};

test("a tool has its defaults filled in, and its signing secret only in the answer that creates it", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const { toolId } = tool;
  const secret = tool.signingSecrets[0]?.secret ?? "";
  expect(tool).toMatchObject({
    toolId: expect.stringMatching(/^tol_/),
    timeoutMs: 20_000,
    speech: { before: "auto", delayed: [] },
    interruption: ToolInterruption.TOOL_INTERRUPTION_CONTINUE,
    run: ToolRun.TOOL_RUN_WAIT,
    kind: { value: { retries: 2, idempotent: false } },
    signingSecrets: [{ secret: expect.stringMatching(/^whsec_/), validUntil: undefined }],
  });
  const post = await createTool(agents, ownerId, httpTool("book", { method: ToolMethod.TOOL_METHOD_POST }));
  expect(post.kind).toMatchObject({ value: { retries: 0 } });
  const page = { ownerId, page: { number: 1, size: 10 }, search: "", type: ToolType.TOOL_TYPE_UNSPECIFIED };
  const { tools } = await agents.listTools(page);
  expect(tools.map(({ name, signingSecrets }) => [name, signingSecrets])).toEqual([
    ["book", []],
    ["look_up", []],
  ]);
  const [row] = await service.sql<{ sealed: string }[]>`
    select sealed_secret as sealed from tools where tool_id = ${toolId}`;
  expect(row?.sealed).not.toContain(secret.slice("whsec_".length));
});

test("tools are found by a part of their name or description, and by their type", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  await createTool(agents, ownerId, httpTool("look_up_order"));
  await createTool(agents, ownerId, clientTool("show"));
  const namesOf = async (search: string, type: ToolType = ToolType.TOOL_TYPE_UNSPECIFIED) => {
    const { tools } = await agents.listTools({ ownerId, page: { number: 1, size: 10 }, search, type });
    return tools.map(({ name }) => name);
  };
  expect(await namesOf("UP_ord")).toEqual(["look_up_order"]);
  expect(await namesOf("a product")).toEqual(["show"]);
  expect(await namesOf("", ToolType.TOOL_TYPE_CLIENT)).toEqual(["show"]);
});

test("a name belongs to one tool of an owner, and to any number of owners", async () => {
  const { agents } = service;
  const [ownerId, other] = [newOwner(), newOwner()];
  await createTool(agents, ownerId, httpTool("look_up"));
  await createTool(agents, other, httpTool("look_up"));
  const taken = { kind: "conflict", detail: "There is a tool with the name look_up already" };
  expect(await failure(createTool(agents, ownerId, clientTool("look_up")))).toMatchObject(taken);
  const second = await createTool(agents, ownerId, httpTool("other"));
  const renamed = agents.updateTool(toolChange(ownerId, second, httpTool("look_up"), ["name"]));
  expect(await failure(renamed)).toMatchObject(taken);
});

test("a change sets the fields that it names, clears those without a value, and leaves the others", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const given = { retries: 1, idempotent: true, result: { keep: ["/status"], hide: false } };
  const tool = await createTool(agents, ownerId, { ...httpTool("look_up", given), timeoutMs: 5_000 });
  const wanted = { ...httpTool("", { method: ToolMethod.TOOL_METHOD_POST }), timeoutMs: 0 };
  const { tool: changed } = await agents.updateTool(
    toolChange(ownerId, tool, wanted, ["method", "retries", "result", "timeoutMs"]),
  );
  expect(changed).toMatchObject({ name: "look_up", timeoutMs: 20_000 });
  expect(changed?.kind?.value).toMatchObject({ retries: 0, idempotent: true, result: undefined });
  expect(changed?.updatedAt?.getTime()).toBeGreaterThan(tool.updatedAt?.getTime() ?? 0);
  const stale = { ...toolChange(ownerId, tool, wanted, ["method"]), ifUpdatedAt: tool.updatedAt };
  expect(await failure(agents.updateTool(stale))).toMatchObject({ kind: "conflict" });
  const another = agents.updateTool(toolChange(ownerId, tool, clientTool(""), ["wait"]));
  expect(await failure(another)).toMatchObject({ kind: "invalid", paths: ["type"] });
});

test("an agent's tools and handoffs come in their order, with all that a conversation needs to call them", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const schema = { type: "object", properties: { z: { type: "string" }, a: { type: "null" } } };
  const parameters = [
    parameter("wish", byModel(schema), { in: 4, required: true }),
    parameter("none", { $case: "constant", value: null }, { in: 4 }),
  ];
  const book = await createTool(agents, ownerId, httpTool("book", { method: ToolMethod.TOOL_METHOD_POST, parameters }));
  const show = await createTool(agents, ownerId, clientTool("show"));
  const billing = await create(agents, creation(ownerId, { agentName: "Billing" }));
  const handoff = {
    agentId: billing.agentId,
    when: "An invoice.",
    context: 1,
    message: undefined,
    keepVoice: true,
    greet: false,
  } as const;
  const customTools = [{ toolId: show.toolId }, { toolId: book.toolId }];
  const agent = await create(agents, creation(ownerId, { customTools, handoffs: [handoff] }));
  expect(await read(agents, agent)).toMatchObject({ customTools, handoffs: [handoff] });
  const runtime = await runtimeOf(ownerId, agent.agentId);
  expect(runtime.handoffs).toEqual([handoff]);
  expect(runtime.customTools.map(({ name, signingSecrets }) => [name, signingSecrets.length])).toEqual([
    ["show", 0],
    ["book", 1],
  ]);
  const [, called] = runtime.customTools;
  expect(called?.signingSecrets).toEqual(book.signingSecrets);
  const stored = called?.kind?.$case === "http" ? called.kind.value.parameters : [];
  expect(stored).toEqual(parameters);
  expect(JSON.stringify(stored[0]?.source?.value)).toBe(JSON.stringify(schema));
  await change(agents, agent, { customTools: { values: [] } });
  expect((await runtimeOf(ownerId, agent.agentId)).customTools).toEqual([]);
});

test("a draft has the tools of its change, and refuses those that do not exist", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const agent = await create(agents, creation(ownerId));
  const draftOf = (toolId: string) =>
    agents.createDraft({ change: update(agent, { customTools: { values: [{ toolId }] } }) });
  const { draftId } = await draftOf(tool.toolId);
  const { runtime } = await agents.getDraftRuntime({ ownerId, agentId: agent.agentId, draftId });
  expect(runtime?.customTools.map(({ name }) => name)).toEqual(["look_up"]);
  expect(await failure(draftOf(NO_TOOL))).toMatchObject({ paths: ["custom_tools.0.tool_id"] });
});

test("an agent is refused tools and handoffs that do not exist, stand twice, or are another owner's", async () => {
  const { agents } = service;
  const [ownerId, other] = [newOwner(), newOwner()];
  const own = await createTool(agents, ownerId, httpTool("look_up"));
  const theirs = await createTool(agents, other, httpTool("look_up"));
  const theirAgent = await create(agents, creation(other));
  const agent = await create(agents, creation(ownerId));
  const withTools = (...ids: string[]) =>
    change(agents, agent, { customTools: { values: ids.map((toolId) => ({ toolId })) } });
  const invalidAt = (path: string) => ({ kind: "invalid", paths: [path] });
  expect(await failure(withTools(own.toolId, NO_TOOL))).toMatchObject(invalidAt("custom_tools.1.tool_id"));
  expect(await failure(withTools("'; drop"))).toMatchObject(invalidAt("custom_tools.0.tool_id"));
  expect(await failure(withTools(own.toolId, own.toolId))).toMatchObject(invalidAt("custom_tools.1.tool_id"));
  expect(await failure(withTools(theirs.toolId))).toMatchObject({
    kind: "forbidden",
    detail: "You do not have access to this tool",
  });
  const handoff = { when: "Always.", context: 1, message: undefined, keepVoice: false, greet: false } as const;
  const withHandoffs = (...ids: string[]) =>
    change(agents, agent, { handoffs: { values: ids.map((agentId) => ({ ...handoff, agentId })) } });
  expect(await failure(withHandoffs(NO_AGENT))).toMatchObject(invalidAt("handoffs.0.agent_id"));
  expect(await failure(withHandoffs(agent.agentId))).toMatchObject(invalidAt("handoffs.0.agent_id"));
  expect(await failure(withHandoffs(theirAgent.agentId))).toMatchObject({ kind: "forbidden" });
  const created = create(agents, creation(ownerId, { customTools: [{ toolId: theirs.toolId }] }));
  expect(await failure(created)).toMatchObject({ kind: "forbidden" });
});

test("a tool that agents use and an agent that others hand over to cannot be deleted, until they are taken out", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const target = await create(agents, creation(ownerId));
  const handoff = {
    agentId: target.agentId,
    when: "Always.",
    context: 1,
    message: undefined,
    keepVoice: false,
    greet: false,
  } as const;
  const agent = await create(
    agents,
    creation(ownerId, { customTools: [{ toolId: tool.toolId }], handoffs: [handoff] }),
  );
  const key = { ownerId, toolId: tool.toolId, idempotency: undefined };
  const used = { kind: "conflict", detail: expect.stringContaining(`used by the agent ${agent.agentId}`) };
  expect(await failure(agents.deleteTool(key))).toMatchObject(used);
  const taken = { kind: "conflict", detail: expect.stringContaining(`from the agent ${agent.agentId}`) };
  expect(await failure(agents.deleteAgent(deletion(target)))).toMatchObject(taken);
  await agents.deleteAgent(deletion(agent));
  expect((await agents.getTool(key)).tool?.name).toBe("look_up");
  expect(await agents.deleteTool(key)).toMatchObject({ name: "look_up" });
  await agents.deleteAgent(deletion(target));
  expect(await failure(agents.getTool(key))).toMatchObject({ kind: "not_found", detail: "Tool not found" });
});

test("another owner's tool can be neither read, changed, rotated nor deleted", async () => {
  const { agents } = service;
  const [ownerId, other] = [newOwner(), newOwner()];
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const key = { ownerId: other, toolId: tool.toolId };
  for (const attempt of [
    () => agents.getTool(key),
    () => agents.getToolRuntime(key),
    () => agents.rotateToolSecret({ ...key, idempotency: undefined }),
    () => agents.deleteTool({ ...key, idempotency: undefined }),
    () => agents.updateTool(toolChange(other, tool, httpTool("mine"), ["name"])),
  ])
    expect(await failure(attempt())).toMatchObject({
      kind: "forbidden",
      detail: "You do not have access to this tool",
    });
});

test("after a rotation requests are signed with both secrets for 24 hours, then with the new one alone", async () => {
  const { agents, clock } = service;
  const ownerId = newOwner();
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const key = { ownerId, toolId: tool.toolId };
  const rotated = present((await agents.rotateToolSecret({ ...key, idempotency: undefined })).tool);
  const [fresh, old] = rotated.signingSecrets;
  expect(old?.secret).toBe(present(tool.signingSecrets[0]).secret);
  expect(old?.validUntil).toEqual(new Date(clock.now().getTime() + 24 * 60 * 60_000));
  const secrets = async () => (await agents.getToolRuntime(key)).tool?.signingSecrets.map(({ secret }) => secret);
  expect(await secrets()).toEqual([present(fresh).secret, present(old).secret]);
  clock.advance(24 * 60 * 60_000);
  expect(await secrets()).toEqual([present(fresh).secret]);
  const client = await createTool(agents, ownerId, clientTool("show"));
  expect(
    await failure(agents.rotateToolSecret({ ownerId, toolId: client.toolId, idempotency: undefined })),
  ).toMatchObject({
    kind: "condition",
  });
});

test("a signing secret that was sealed for another tool does not open, and takes only its own tool from an agent", async () => {
  const { agents, sql } = service;
  const ownerId = newOwner();
  const tools = [
    await createTool(agents, ownerId, httpTool("one")),
    await createTool(agents, ownerId, httpTool("two")),
  ];
  const [one, two] = tools.map(({ toolId }) => toolId);
  const agent = await create(agents, creation(ownerId, { customTools: tools.map(({ toolId }) => ({ toolId })) }));
  await sql`
    update tools set sealed_secret = (select sealed_secret from tools where tool_id = ${one ?? ""})
    where tool_id = ${two ?? ""}`;
  expect((await runtimeOf(ownerId, agent.agentId)).customTools.map(({ name }) => name)).toEqual(["one"]);
});

test("after a reseal the new key alone opens every signing secret", async () => {
  const { agents, sql } = service;
  const ownerId = newOwner();
  await sql`delete from tools`;
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  const agent = await create(agents, creation(ownerId, { customTools: [{ toolId: tool.toolId }] }));
  const next = Buffer.alloc(32, 9).toString("base64");
  const resealed = async (keys: string) => {
    await resealTools(readAgentConfig({ ...service.env(), PARLEY_ENCRYPTION_KEY: keys }), silentLogger);
    return (await runtimeOf(ownerId, agent.agentId)).customTools;
  };
  expect(await resealed(`${next},${TEST_SECRET}`)).toEqual([]);
  const [back] = await resealed(`${TEST_SECRET},${next}`);
  expect(back?.signingSecrets).toEqual(tool.signingSecrets);
});

test("a tool refers only to secrets of its owner, and tells who uses one", async () => {
  const { agents } = service;
  const [ownerId, other] = [newOwner(), newOwner()];
  accounts.secrets.set(ownerId, ["shop_key", "login"]).set(other, ["theirs"]);
  const withSecrets = (header: string) =>
    httpTool("look_up", {
      headers: [{ name: "X-Key", value: { $case: "secret", value: header } }],
      auth: { kind: { $case: "basic", value: { username: "ann", secret: "login" } } },
    });
  const refused = { kind: "invalid", paths: ["headers.X-Key.secret"] };
  expect(await failure(createTool(agents, ownerId, withSecrets("theirs")))).toMatchObject(refused);
  const tool = await createTool(agents, ownerId, withSecrets("shop_key"));
  const users = async (secretName: string) => (await agents.listSecretUsers({ ownerId, secretName })).toolNames;
  expect([await users("shop_key"), await users("login"), await users("theirs")]).toEqual([
    ["look_up"],
    ["look_up"],
    [],
  ]);
  await agents.updateTool(toolChange(ownerId, tool, httpTool("look_up"), ["headers"]));
  expect([await users("shop_key"), await users("login")]).toEqual([[], ["look_up"]]);
});

test("a repeated creation with one idempotency key makes one tool, and its secret is not stored in plain text", async () => {
  const { agents, sql } = service;
  const ownerId = newOwner();
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  const make = async () => present((await agents.createTool({ ownerId, tool: httpTool("look_up"), idempotency })).tool);
  const [first, second] = [await make(), await make()];
  expect(second).toEqual(first);
  const rows = await sql<
    { row: string }[]
  >`select response::text as row from idempotency_keys where owner_id = ${ownerId}`;
  const secret = Buffer.from(present(first.signingSecrets[0]).secret).toString("hex");
  expect(rows.map(({ row }) => row).join()).not.toContain(secret);
});
