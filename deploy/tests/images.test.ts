import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { roleUrls } from "@parley/shared/db/provision";
import { TEST_SECRET } from "@parley/shared/testing/database";
import { eventually } from "@parley/shared/testing/eventually";
import { buildBinaries } from "../src/images/build.ts";
import { PROGRAMS, type ProgramName } from "../src/images/programs.ts";
import { pingRpc } from "../src/stack/ping.ts";
import { freePorts } from "../src/stack/ports.ts";
import { answerOf, createApi } from "../src/testing/api.ts";
import { type Jail, makeJail } from "../src/testing/jail.ts";
import { createDatabase, type GivenDatabase } from "../src/testing/stack-database.ts";

// What the images hold, without an engine to run them: every program from its binary, in a folder that holds nothing else.

const SERVICES = ["account", "agent", "prompt", "conversation", "webhook-dispatcher"] as const;
const SCHEMA_OF = { "webhook-dispatcher": "webhook" } as const;
const HOST = "127.0.0.1";
const BUILT_WITHIN_MS = 120_000;

let jail: Jail;
let database: GivenDatabase;
const running = new Map<ProgramName, ReturnType<Jail["run"]>>();
let env: Record<ProgramName, Record<string, string>>;
let url: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-images-"));
  await chmod(folder, 0o755);
  await buildBinaries(folder);
  [jail, database] = await Promise.all([makeJail(folder), createDatabase()]);
  const ports = await freePorts(14);
  const take = () => `${HOST}:${ports.pop()}`;
  const urls = roleUrls(database.url, TEST_SECRET);
  const listen = Object.fromEntries(SERVICES.map((name) => [name, take()]));
  const model = take();
  const addresses = Object.fromEntries(
    SERVICES.map((name) => [`PARLEY_${schemaOf(name).toUpperCase()}_ADDRESS`, listen[name] ?? ""]),
  );
  const services = SERVICES.map((name) => [
    name,
    {
      ...addresses,
      PARLEY_LISTEN: listen[name],
      PARLEY_ADMIN_LISTEN: take(),
      DATABASE_URL: urls[schemaOf(name)],
      PARLEY_ENCRYPTION_KEY: TEST_SECRET,
      PARLEY_ALLOWED_PRIVATE_HOSTS: HOST,
    },
  ]);
  const port = String(ports.pop());
  url = `http://${HOST}:${port}`;
  env = {
    ...Object.fromEntries(services),
    gateway: {
      ...addresses,
      PORT: port,
      PARLEY_ADMIN_LISTEN: take(),
      REDIS_URL: process.env.PARLEY_TEST_REDIS_URL ?? "",
    },
    model: { PORT: model.slice(HOST.length + 1), PARLEY_MODEL_WORD_DELAY_MS: "1" },
    migrate: {
      DATABASE_ADMIN_URL: database.url,
      ...Object.fromEntries(Object.entries(urls).map(([schema, own]) => [`${schema.toUpperCase()}_DATABASE_URL`, own])),
    },
    parley: addresses,
  };
}, BUILT_WITHIN_MS);
afterAll(async () => {
  for (const child of running.values()) child.kill("SIGKILL");
  await Promise.all([...running.values()].map((child) => child.exited));
  await jail.remove();
  await database.drop();
});

function schemaOf(name: (typeof SERVICES)[number]) {
  return name === "webhook-dispatcher" ? SCHEMA_OF[name] : name;
}

async function once(name: ProgramName, ...args: string[]): Promise<{ exitCode: number; printed: string }> {
  const child = jail.run(name, env[name], args);
  const [printed, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, printed: printed + errors };
}

test("the one-shot migrates an empty database, and a second time changes nothing", async () => {
  for (let run = 1; run <= 2; run++) expect(await once("migrate")).toMatchObject({ exitCode: 0 });
});

test("every process starts from its binary and its health check finds it ready", async () => {
  const names = [...SERVICES, "gateway", "model"] as const;
  for (const name of names) running.set(name, jail.run(name, env[name]));
  for (const name of names)
    await eventually(async () => expect(await once(name, "health")).toMatchObject({ exitCode: 0 }));
  for (const name of SERVICES) await pingRpc(env[name].PARLEY_LISTEN ?? "");
});

test("the quick start's main job runs on them: owner, key, agent, both kinds of chat, what was said", async () => {
  const owner = await once("parley", "owner", "create", "--name", "Acme", "--email", "ops@acme.example", "--json");
  const { owner_id } = JSON.parse(owner.printed);
  const key = await once("parley", "key", "create", "--owner", owner_id, "--json");
  const api = createApi(url, JSON.parse(key.printed).api_key);
  const agent = await api.post("/agents", {
    agent_name: "Front desk",
    agent_type: "INBOUND",
    prompt_content: "You are Ada, at the front desk of {{company}}. Be brief.",
    first_message_prompt: "Hello, this is {{company | Parley}}. How can I help?",
    llm: {
      provider_name: "CUSTOM_LLM",
      model_name: "stand-in",
      params: { base_url: `http://${HOST}:${env.model.PORT}/v1`, api_key: "the-stand-in-takes-any" },
    },
  });
  expect(agent.status).toBe(200);
  const metadata = { dynamic_variables: { company: "Acme" } };
  const streamed = await answerOf(
    await api.chat({ agent_id: agent.body.id, message: "Hello, I need some help with my order.", metadata }),
  );
  expect(streamed.status).toBe(200);
  const session_id = streamed.headers.get("x-session-id");
  const whole = await api.post("/chat", {
    agent_id: agent.body.id,
    session_id,
    message: "Who are you?",
    streaming: false,
  });
  expect(whole.body).toEqual({ response: expect.stringContaining("Ada"), session_id });
  expect((await api.get(`/chat/sessions/${session_id}`)).body).toMatchObject({ message_count: 4 });
  expect((await api.get("/conversations")).body).toMatchObject({ pagination: { total: 1 } });
});

test("what programs read from files in a checkout is inside the binaries", async () => {
  const size = async (path: string) => (await (await fetch(`${url}${path}`)).blob()).size;
  expect(await size("/docs/swagger-ui.js")).toBeGreaterThan(500_000);
  expect(await size("/docs/swagger-ui.css")).toBeGreaterThan(50_000);
  expect(await size("/openapi.json")).toBeGreaterThan(10_000);
});

test("the Dockerfile has a target for every program, which holds its binary alone", async () => {
  const text = await Bun.file(join(import.meta.dir, "../Dockerfile")).text();
  const targets = [...text.matchAll(/^FROM (?:base|service) AS (\S+)\n((?:.+\n)*)/gm)]
    .map(([, name = "", body = ""]) => ({ name, body }))
    .filter(({ name }) => name !== "service");
  expect(targets.map(({ name }) => name).toSorted()).toEqual(Object.keys(PROGRAMS).toSorted());
  for (const { name, body } of targets) {
    expect(body.match(/^COPY .*$/gm)).toEqual([`COPY --from=build /out/${name} /usr/local/bin/${name}`]);
    expect(body).toContain(`ENTRYPOINT ["${name}"]`);
  }
});

test("every process ends with 0 on SIGTERM", async () => {
  for (const child of running.values()) child.kill("SIGTERM");
  for (const [name, child] of running) expect([name, await child.exited]).toEqual([name, 0]);
});
