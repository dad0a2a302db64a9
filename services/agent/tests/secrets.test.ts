import { afterAll, describe, expect, test } from "bun:test";
import { type Agent, type LlmConfig, StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { change, create, creation, customLlm, present, runtimes, startTestAgents, update } from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

const A = "https://a.example/v1";
const B = "https://b.example/v1";
const KEY = "sk-primary-0123456789";
const MASK = "********6789";

test("no column of any table has a key in plain text", async () => {
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  const llm = customLlm(A, KEY, [customLlm(B, "sk-fallback-abcdef")]);
  const agent = await create(service.agents, creation(newOwner(), { llm, idempotency }));
  await change(service.agents, agent, {
    llm: customLlm(A, "sk-second-zzzzzzz"),
    idempotency: { ...idempotency, key: "twice" },
  });
  const tables = await service.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema()`;
  expect(tables.map(({ name }) => name)).toContain("agents");
  for (const { name } of tables) {
    const rows = await service.sql`select row_to_json(t)::text as row from ${service.sql(name)} t`;
    const text = rows.map(({ row }) => row).join("\n");
    for (const secret of [KEY, "sk-fallback-abcdef", "sk-second-zzzzzzz"]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString("hex"));
    }
  }
});

test("owners see masks, also of fallbacks; the conversation service gets the keys", async () => {
  const llm = customLlm(A, KEY, [customLlm(B, "elevenchars"), customLlm(B, "twelve_chars")]);
  const agent = await create(service.agents, creation(newOwner(), { llm }));
  expect(keysOf(agent.llm)).toEqual([MASK, "********", "********hars"]);
  const listed = await service.agents.listAgents({ ownerId: agent.ownerId, ...LIST });
  expect(keysOf(listed.agents[0]?.llm)).toEqual([MASK, "********", "********hars"]);
  expect(present((await runtime(agent)).llm)).toEqual(llm);
});

describe("the key of an agent's own speech server", () => {
  const custom = (baseUrl: string, apiKey: string | undefined) => ({
    stt: { providerName: "CUSTOM_STT", modelName: "any", language: undefined, endpoint: { baseUrl, apiKey } },
    tts: {
      providerName: "CUSTOM_TTS",
      modelName: undefined,
      language: undefined,
      voiceId: "any",
      speed: undefined,
      endpoint: { baseUrl, apiKey },
    },
  });
  const speech = async (agent: Agent) => {
    const { stt, tts, sts } = await service.agents.getSpeech({ ownerId: agent.ownerId, agentId: agent.agentId });
    return { stt, tts, sts };
  };

  test("is masked for owners, absent for the conversation service, and in plain text for the voice service", async () => {
    const agent = await create(service.agents, creation(newOwner(), custom(A, KEY)));
    expect(agent).toMatchObject(custom(A, MASK));
    expect(await runtime(agent)).toMatchObject(custom(A, undefined));
    expect(await speech(agent)).toEqual({ ...custom(A, KEY), sts: undefined });
  });

  test("may be missing", async () => {
    const agent = await create(service.agents, creation(newOwner(), custom(A, undefined)));
    expect(agent).toMatchObject(custom(A, undefined));
    expect(await speech(agent)).toMatchObject(custom(A, undefined));
  });

  test("stays when its mask is sent back, unless base_url changes", async () => {
    const agent = await create(service.agents, creation(newOwner(), custom(A, KEY)));
    await change(service.agents, agent, custom(A, MASK));
    expect(await speech(agent)).toMatchObject(custom(A, KEY));
    for (const field of ["stt", "tts"] as const) {
      const request = update(agent, { [field]: custom(B, MASK)[field] });
      expect(await failure(service.agents.updateAgent(request))).toEqual({
        kind: "invalid",
        detail: `${field}.params.api_key must be sent again in full because base_url changes`,
        paths: [`${field}.params.api_key`],
      });
    }
  });

  test.each(["stt", "tts"] as const)(
    "does not open for an address that someone wrote into the database: %s",
    async (field) => {
      const agent = await create(service.agents, creation(newOwner(), { [field]: custom(A, KEY)[field] }));
      await tamper(agent, `{${field},endpoint,baseUrl}`, A, "https://evil.example/v1");
      expect(await failure(speech(agent))).toMatchObject({
        kind: "condition",
        detail: `${field}.params.api_key of the agent cannot be read: set it again`,
      });
    },
  );

  test("is not available to other owners", async () => {
    const agent = await create(service.agents, creation(newOwner(), custom(A, KEY)));
    expect(await failure(speech({ ...agent, ownerId: newOwner() }))).toMatchObject({ kind: "forbidden" });
  });

  test.each(["stt", "tts"] as const)("is refused with an address that requests may not go to: %s", async (field) => {
    const given = { [field]: custom("https://169.254.169.254/v1", KEY)[field] };
    expect(await failure(service.agents.createAgent(creation(newOwner(), given)))).toMatchObject({
      kind: "invalid",
      paths: [`${field}.params.base_url`],
    });
  });
});

test("sending a mask back keeps the key, whatever else changes", async () => {
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  const changed = await change(service.agents, agent, { llm: { ...customLlm(A, MASK), modelName: "another" } });
  expect(changed.llm).toMatchObject({ modelName: "another", params: { apiKey: MASK, baseUrl: A } });
  expect((await runtime(agent)).llm).toMatchObject({ modelName: "another", params: { apiKey: KEY } });
});

test("a mask does not carry a key to another address", async () => {
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  expect(await failure(service.agents.updateAgent(update(agent, { llm: customLlm(B, MASK) })))).toEqual({
    kind: "invalid",
    detail: "llm.params.api_key must be sent again in full because base_url changes",
    paths: ["llm.params.api_key"],
  });
  const moved = customLlm(A, MASK, [customLlm(B, MASK)]);
  expect(await failure(service.agents.updateAgent(update(agent, { llm: moved })))).toMatchObject({
    kind: "invalid",
    paths: ["llm.fallbacks.0.params.api_key"],
  });
  expect((await runtime(agent)).llm).toEqual(customLlm(A, KEY));
});

test("a mask that matches no key is refused, on a new agent too", async () => {
  const refusal = {
    kind: "invalid",
    detail: "llm.params.api_key is a mask that matches no stored key. Send the key itself.",
    paths: ["llm.params.api_key"],
  };
  const llm = customLlm(A, MASK);
  expect(await failure(service.agents.createAgent(creation(newOwner(), { llm })))).toEqual(refusal);
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, "sk-another-0000000") }));
  expect(await failure(service.agents.updateAgent(update(agent, { llm })))).toEqual(refusal);
});

test("a copy of an agent gets the keys that its masks stand for, and never those of another owner's agent", async () => {
  const ownerId = newOwner();
  const original = await create(service.agents, creation(ownerId, { llm: customLlm(A, KEY) }));
  const masked = { llm: customLlm(A, MASK), copiedAgentId: original.agentId };
  const copy = await create(service.agents, creation(ownerId, masked));
  expect(present((await runtime(copy)).llm)).toEqual(customLlm(A, KEY));
  expect(await failure(create(service.agents, creation(newOwner(), masked)))).toMatchObject({ kind: "forbidden" });
  const moved = creation(ownerId, { ...masked, llm: customLlm(B, MASK) });
  expect(await failure(create(service.agents, moved))).toMatchObject({ kind: "invalid" });
});

test("a mask never matches another owner's key", async () => {
  await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  const other = await create(service.agents, creation(newOwner()));
  const request = update(other, { llm: customLlm(A, MASK) });
  expect(await failure(service.agents.updateAgent(request))).toMatchObject({ kind: "invalid" });
});

test("keys with the same mask stay in their positions", async () => {
  const llm = customLlm(A, "short1", [customLlm(A, "short2"), customLlm(A, "short3")]);
  const agent = await create(service.agents, creation(newOwner(), { llm }));
  const changed = await change(service.agents, agent, { llm: present(agent.llm) });
  expect(changed.llm).toEqual(present(agent.llm));
  expect((await runtime(agent)).llm).toEqual(llm);
});

test("a mask follows its configuration to another position", async () => {
  const agent = await create(
    service.agents,
    creation(newOwner(), { llm: customLlm(A, KEY, [customLlm(B, "sk-fallback-abcdef")]) }),
  );
  const { llm } = agent;
  const [fallback] = present(llm).fallbacks;
  await change(service.agents, agent, {
    llm: { ...present(fallback), fallbacks: [{ ...present(llm), fallbacks: [] }] },
  });
  expect((await runtime(agent)).llm).toEqual(customLlm(B, "sk-fallback-abcdef", [customLlm(A, KEY)]));
});

test.each([
  ["another base_url", "{llm,params,baseUrl}", A, "https://evil.example/v1", "llm.params.api_key"],
  ["another provider", "{llm,providerName}", "CUSTOM_LLM", "OPENAI", "llm.params.api_key"],
  [
    "another base_url of a fallback",
    "{llm,fallbacks,0,params,baseUrl}",
    B,
    "https://evil.example/v1",
    "llm.fallbacks.0.params.api_key",
  ],
] as const)(
  "a key opens for no other use that someone writes into the database: %s",
  async (_, path, was, value, field) => {
    const llm = customLlm(A, KEY, [customLlm(B, "sk-fallback-abcdef")]);
    const [agent, other] = [
      await create(service.agents, creation(newOwner(), { llm })),
      await create(service.agents, creation(newOwner(), { llm })),
    ];
    await tamper(agent, path, was, value);
    // The other agents in the batch keep theirs.
    const { results } = await runtimes(service.agents, [agent, other]);
    expect(results.map(({ runtime: found }) => [found?.llm, found?.unreadableKey])).toEqual([
      [undefined, field],
      [llm, undefined],
    ]);
  },
);

test("a key moved to another agent of its owner opens neither for use nor for its mask, and a new key repairs the agent", async () => {
  const owner = newOwner();
  const [from, to] = [
    await create(service.agents, creation(owner, { llm: customLlm(A, KEY) })),
    await create(service.agents, creation(owner, { llm: customLlm(A, "sk-another-0000000") })),
  ];
  await service.sql`
    update agent_keys set (sealed_key, key_mask) = (
      select sealed_key, key_mask from agent_keys where agent_id = ${from.agentId}
    ) where agent_id = ${to.agentId}`;
  expect(await runtime(to)).toMatchObject({ llm: undefined, unreadableKey: "llm.params.api_key" });
  expect((await runtime(from)).llm).toEqual(customLlm(A, KEY));
  expect(await failure(service.agents.updateAgent(update(to, { llm: customLlm(A, MASK) })))).toMatchObject({
    kind: "invalid",
    detail: "llm.params.api_key must be sent again in full because the stored key cannot be read",
  });
  await change(service.agents, to, { llm: customLlm(A, "sk-fresh-00000000") });
  expect((await runtime(to)).llm).toEqual(customLlm(A, "sk-fresh-00000000"));
});

test("a mask that moves to another provider with the same base_url keeps the key", async () => {
  const llm = { ...customLlm("", KEY), params: { ...customLlm("", KEY).params, baseUrl: undefined } };
  const from = { ...present(llm), providerName: "OPENAI", modelName: "gpt-5" } as LlmConfig;
  const agent = await create(service.agents, creation(newOwner(), { llm: from }));
  const to = { ...from, providerName: "OPENAI_RESPONSES", params: { ...present(from.params), apiKey: MASK } };
  await change(service.agents, agent, { llm: to });
  // The catalogue's price of the model comes with it.
  const { price: _, ...kept } = present((await runtime(agent)).llm);
  expect(kept).toEqual({ ...to, params: { ...to.params, apiKey: KEY } });
});

const LIST = { page: undefined, search: "", agentType: 0, agentCategory: "" } as const;

function keysOf(llm: LlmConfig | undefined): (string | undefined)[] {
  return [present(llm), ...present(llm).fallbacks].map(({ params }) => params?.apiKey);
}

/** Writes another use of a key into an agent's version and beside the key itself. */
async function tamper({ agentId }: Agent, path: string, was: string, value: string): Promise<void> {
  const { sql } = service;
  await sql`
    update agent_versions set content = jsonb_set(content::jsonb, ${path}, ${sql.json(value)})::json where agent_id = ${agentId}`;
  await sql`update agent_keys set key_use = replace(key_use, ${was}, ${value}) where agent_id = ${agentId}`;
}

async function runtime({ ownerId, agentId }: { ownerId: string; agentId: string }) {
  const { results } = await runtimes(service.agents, [{ ownerId, agentId }]);
  return present(results[0]?.runtime);
}

describe("a start webhook", () => {
  const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  const text = (name: string, value: string) => ({ name, value: { $case: "text" as const, value } });
  const webhook = (given: Partial<StartWebhook> = {}): StartWebhook => ({
    ...StartWebhook.fromPartial({ url: "https://crm.example/start" }),
    ...given,
  });

  test("shows its secret once, given or made, and the texts of its headers never; conversations get both", async () => {
    const headers = [text("Authorization", "Bearer crm-0123456789")];
    const agent = await create(
      service.agents,
      creation(newOwner(), { startWebhook: webhook({ headers, secret: SECRET }) }),
    );
    expect(agent.startWebhook?.secret).toBe(SECRET);
    expect(agent.startWebhook).toMatchObject({ timeoutMs: 3_000, headers: [text("Authorization", "********6789")] });
    const { agents } = await service.agents.listAgents({ ownerId: agent.ownerId, ...LIST });
    expect(agents[0]?.startWebhook?.secret).toBe("********b7oD");
    expect((await runtime(agent)).startWebhook).toMatchObject({ secret: SECRET, headers });
    const made = await create(service.agents, creation(newOwner(), { startWebhook: webhook() }));
    expect(made.startWebhook?.secret).toStartWith("whsec_");
    expect((await runtime(made)).startWebhook?.secret).toBe(made.startWebhook?.secret);
    const [row] = await service.sql`select start_webhook::text as stored from agents where agent_id = ${agent.agentId}`;
    for (const secret of [SECRET, "crm-0123456789"]) expect(row?.stored).not.toContain(secret);
  });

  test("keeps its secret and masked headers in a change, but sends no header's text to another address", async () => {
    const headers = [text("Authorization", "Bearer crm-0123456789")];
    const agent = await create(
      service.agents,
      creation(newOwner(), { startWebhook: webhook({ headers, secret: SECRET }) }),
    );
    const masked = [text("Authorization", "********6789")];
    const changed = await change(service.agents, agent, { startWebhook: webhook({ headers: masked, timeoutMs: 700 }) });
    expect(changed?.startWebhook).toMatchObject({ secret: "********b7oD", headers: masked, timeoutMs: 700 });
    expect((await runtime(agent)).startWebhook).toMatchObject({ secret: SECRET, headers });
    const elsewhere = webhook({ url: "https://thief.example/", headers: masked });
    expect(await failure(service.agents.updateAgent(update(agent, { startWebhook: elsewhere })))).toMatchObject({
      kind: "invalid",
      detail: "start_webhook.headers.Authorization must be sent again in full because url changes",
    });
    const copied = creation(agent.ownerId, {
      startWebhook: webhook({ headers: masked }),
      copiedAgentId: agent.agentId,
    });
    const copy = await create(service.agents, copied);
    expect((await runtime(copy)).startWebhook?.headers).toEqual(headers);
    expect((await runtime(copy)).startWebhook?.secret).not.toBe(SECRET);
  });

  test.each<[Partial<StartWebhook>, string]>([
    [{ url: "http://10.0.0.1/" }, "start_webhook.url cannot be used"],
    [{ headers: [text("Webhook-Id", "1")] }, "start_webhook.headers.Webhook-Id must not be Webhook-Id"],
    [{ secret: "whsec_short" }, "start_webhook.secret must be whsec_"],
    [{ timeoutMs: 7_001 }, "start_webhook.timeout_ms must be from 500 to 7000"],
    [{ channels: ["fax"] }, "start_webhook.channels.0 must be one of chat, web"],
  ])("is refused with %j", async (given, detail) => {
    const refused = await failure(service.agents.createAgent(creation(newOwner(), { startWebhook: webhook(given) })));
    expect(refused.kind).toBe("invalid");
    expect(refused.detail).toStartWith(detail);
  });
});
