import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBinaries } from "@parley/deploy/src/images/build.ts";
import { PROGRAMS, type ProgramName } from "@parley/deploy/src/images/programs.ts";
import { type Child, startChild, stopChild } from "@parley/dev/processes/child.ts";
import { pingHttp } from "@parley/dev/processes/ping.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { HealthService } from "@parley/proto/grpc/health/v1/health.ts";
import { roleUrls } from "@parley/shared/db/provision";
import { silentLogger } from "@parley/shared/log";
import { createClient } from "@parley/shared/rpc/client";
import type { TlsFiles } from "@parley/shared/rpc/tls/certificates";
import { peerCredentials } from "@parley/shared/rpc/tls/credentials";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import { $ } from "bun";
import { Redis } from "ioredis";
import { answerOf, createApi } from "../kit/api.ts";
import { readCompose } from "../kit/deploy/compose.ts";
import { type Jail, makeJail } from "../kit/deploy/jail.ts";
import { createDatabase, type GivenDatabase } from "../kit/stack/stack-database.ts";

// What the images contain, tested without an engine to run them: every program from its binary, in a folder that holds nothing
// else, with the environment and the secrets that compose.yaml gives it. The voice service runs from its sources, as in its
// image.

const SERVICES = [
  "account",
  "agent",
  "prompt",
  "conversation",
  "webhook-dispatcher",
  "messaging",
  "knowledge",
] as const;
const HOST = "127.0.0.1";
const BUILT_WITHIN_MS = 300_000;
const READY_WITHIN_MS = 60_000;
const STARTED_WITHIN_MS = 240_000;

let jail: Jail;
let database: GivenDatabase;
type Program = ProgramName | "voice";
const running = new Map<Program, ReturnType<Jail["run"]>>();
let env: Record<Program, Record<string, string>>;
let url: string;
let asGateway: TlsFiles;
let redis: { url: string; ca: string; child: Child };

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-images-"));
  await chmod(folder, 0o755);
  const secrets = join(folder, "run/secrets");
  await buildBinaries(folder);
  [jail, database] = await Promise.all([makeJail(folder), createDatabase()]);
  await makeSecrets(folder, secrets);

  const ports = await freePorts(22);
  const take = () => `${HOST}:${ports.pop()}`;
  const listen = new Map([...SERVICES, "voice"].map((name) => [name, take()]));
  const [model, gateway, redisAddress, media] = [take(), take(), take(), take()];
  url = `http://${gateway}`;
  // Replaces the names, ports and files of the containers by those of this machine.
  const local = (value: string, secretsAt = jail.inside("/run/secrets")) =>
    value
      .replace(/^dns:\/\/\/([\w-]+):50051$/, (_, name) => (listen.get(name) ?? "").replace(HOST, "localhost"))
      .replace("model:4100", model)
      .replace("0.0.0.0:8090", media)
      .replace("redis:6379", redisAddress.replace(HOST, "localhost"))
      .replace(/^\/run\/secrets/, secretsAt);
  const { services } = await readCompose();
  redis = await startRedis(services.redis?.command ?? [], secrets, redisAddress);
  const environment = (name: string, secretsAt?: string) =>
    Object.fromEntries(
      Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, local(value, secretsAt)]),
    );
  // The variables that the Dockerfile sets.
  const image = (name: string) => ({ PARLEY_LISTEN: listen.get(name), PARLEY_ADMIN_LISTEN: take() });
  env = {
    ...Object.fromEntries(SERVICES.map((name) => [name, { ...environment(name), ...image(name) }])),
    voice: { ...environment("voice", secrets), ...image("voice") },
    gateway: { ...environment("gateway"), PORT: portOf(gateway), PARLEY_ADMIN_LISTEN: take() },
    model: { ...environment("model"), PORT: portOf(model), PARLEY_MODEL_WORD_DELAY_MS: "1" },
    migrate: environment("migrate"),
    parley: environment("parley"),
  } as unknown as typeof env;
  asGateway = {
    ca: join(secrets, "ca.pem"),
    cert: join(secrets, "gateway.pem"),
    key: join(secrets, "gateway.key"),
  };
}, BUILT_WITHIN_MS);
afterAll(async () => {
  for (const child of running.values()) child.kill("SIGKILL");
  await Promise.all([...running.values()].map((child) => child.exited));
  if (redis) await stopChild(redis.child, "SIGTERM", READY_WITHIN_MS);
  await jail?.remove();
  await database?.drop();
});

/** Like up.sh, except for the database, which is the test's. */
async function makeSecrets(folder: string, secrets: string): Promise<void> {
  const script = join(folder, "make-secrets.sh");
  await copyFile(join(import.meta.dir, "../../deploy/compose/make-secrets.sh"), script);
  await obtain("openssl");
  await $`sh ${script}`.quiet();
  await mkdir(join(folder, "run"));
  await rename(join(folder, "secrets"), secrets);
  await chmod(secrets, 0o755);
  await rm(script);
  await writeSecret(secrets, "admin_database_url", database.url);
  for (const [schema, own] of Object.entries(roleUrls(database.url, TEST_SECRET)))
    await writeSecret(secrets, `${schema}_database_url`, own);
}

/** Redis as in compose.yaml, with this machine's server, files and port instead of the container's. */
async function startRedis([, ...flags]: string[], secrets: string, address: string): Promise<typeof redis> {
  const port = portOf(address);
  const local = flags.map((flag) => flag.replace(/^6379$/, port).replace(/^\/run\/secrets/, secrets));
  const args = [process.env.PARLEY_TEST_REDIS_SERVER ?? "", ...local, "--bind", HOST];
  const child = startChild({ args, cwd: "/", log: join(secrets, "../redis.log"), stopSignal: "SIGTERM" });
  return { url: `rediss://localhost:${port}`, ca: await Bun.file(join(secrets, "ca.pem")).text(), child };
}

async function writeSecret(secrets: string, name: string, value: string): Promise<void> {
  await rm(join(secrets, name));
  await writeFile(join(secrets, name), `${value}\n`, { mode: 0o444 });
}

function portOf(address: string): string {
  return address.slice(HOST.length + 1);
}

function run(name: Program, args: readonly string[] = []): ReturnType<Jail["run"]> {
  if (name !== "voice") return jail.run(name, env[name], args);
  const main = join(import.meta.dir, "../../services/voice/src/main.ts");
  return Bun.spawn([process.execPath, main, ...args], { env: env.voice, stdio: ["ignore", "pipe", "pipe"] });
}

/** Where a process tells whether it is ready, asked first so that its health check, a process of its own, runs once. */
function readinessOf(name: Program): string {
  return name === "model"
    ? `http://${HOST}:${env.model.PORT}/healthz`
    : `http://${env[name].PARLEY_ADMIN_LISTEN}/readyz`;
}

async function once(name: Program, ...args: string[]): Promise<{ exitCode: number; printed: string }> {
  const child = run(name, args);
  const [printed, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, printed: printed + errors };
}

test("the one-shot migrates an empty database, and a second run changes nothing", async () => {
  for (let run = 1; run <= 2; run++) expect(await once("migrate")).toMatchObject({ exitCode: 0 });
});

test(
  "every process starts from what its image holds and its health check finds it ready",
  async () => {
    const names = [...SERVICES, "voice", "gateway", "model"] as const;
    for (const name of names) running.set(name, run(name));
    for (const name of names) {
      await eventually(() => pingHttp(readinessOf(name)), READY_WITHIN_MS);
      expect({ name, ...(await once(name, "health")) }).toMatchObject({ name, exitCode: 0 });
    }
    for (const name of [...SERVICES, "voice"] as const) {
      const address = (env[name].PARLEY_LISTEN ?? "").replace(HOST, "localhost");
      const client = createClient(HealthService, {
        peer: name,
        address,
        credentials: peerCredentials(asGateway, silentLogger).channel,
      });
      expect(await client.check({ service: "" })).toEqual({ status: 1 });
      client.close();
    }
  },
  STARTED_WITHIN_MS,
);

test("the quick start runs on the images: owner, key, agent, both kinds of chat, transcript", async () => {
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
  const rates = new Redis(redis.url, { tls: { ca: redis.ca } });
  expect(await rates.keys("parley:rl:*")).toHaveLength(1);
  rates.disconnect();
});

test("the binaries contain what programs read from files in a checkout", async () => {
  const size = async (path: string) => (await (await fetch(`${url}${path}`)).blob()).size;
  expect(await size("/docs/swagger-ui.js")).toBeGreaterThan(500_000);
  expect(await size("/docs/swagger-ui.css")).toBeGreaterThan(50_000);
  expect(await size("/widget.js")).toBeGreaterThan(5_000);
  expect(await size("/openapi.json")).toBeGreaterThan(10_000);
});

test("services that seal secrets can reseal them from their images", async () => {
  for (const name of ["account", "agent", "webhook-dispatcher"] as const)
    expect({ name, ...(await once(name, "reseal")) }).toMatchObject({ name, exitCode: 0 });
});

test("the Dockerfile has a target for every program that has a binary, with only its binary and the gateway's pages", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../deploy/Dockerfile")).text();
  const targets = [...text.matchAll(/^FROM (?:base|service) AS (\S+)\n((?:.+\n)*)/gm)]
    .map(([, name = "", body = ""]) => ({ name, body }))
    .filter(({ name }) => name !== "service");
  expect(targets.map(({ name }) => name).toSorted()).toEqual(Object.keys(PROGRAMS).toSorted());
  for (const { name, body } of targets) {
    const pages = name === "gateway" ? ["COPY --from=build /out/dashboard /usr/share/parley/dashboard"] : [];
    expect(body.match(/^COPY .*$/gm)).toEqual([`COPY --from=build /out/${name} /usr/local/bin/${name}`, ...pages]);
    expect(body).toContain(`ENTRYPOINT ["${name}"]`);
  }
});

test("every process ends with 0 on SIGTERM", async () => {
  for (const child of running.values()) child.kill("SIGTERM");
  for (const [name, child] of running) expect([name, await child.exited]).toEqual([name, 0]);
});
