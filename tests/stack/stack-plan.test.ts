import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Home } from "@parley/dev/stack/home.ts";
import { gatewayPrograms, gatewayUrl, type Surroundings, servicePrograms } from "@parley/dev/stack/plan.ts";
import {
  carrierProgram,
  dailyProgram,
  modelProgram,
  speechProgram,
  whatsAppProgram,
} from "@parley/dev/stack/stand-in-programs.ts";

const home: Home = {
  path: tmpdir(),
  file: (name) => join(tmpdir(), name),
  log: (name) => join(tmpdir(), `${name}.log`),
};

const surroundings: Surroundings = {
  home,
  env: {
    PARLEY_ENCRYPTION_KEY: "sealing",
    PARLEY_TOKEN_KEY: "tokens",
    PARLEY_TURN_SECRET: "turn",
    PARLEY_CHAT_IDLE_MINUTES: "5",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "10.0.0.0/8",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
    OPENAI_API_KEY: "sk-1",
    PARLEY_EMBEDDINGS_API_KEY: "sk-2",
    GROQ_BASE_URL: "http://127.0.0.1:9/v1",
    AWS_SECRET_ACCESS_KEY: "not ours",
  },
  sockets: "/run/parley",
  replicas: 1,
  databaseUrls: {
    account: "postgres://account",
    agent: "postgres://agent",
    prompt: "postgres://prompt",
    conversation: "postgres://conversation",
    webhook: "postgres://webhook",
    voice: "postgres://voice",
    messaging: "postgres://messaging",
    knowledge: "postgres://knowledge",
  },
  redisUrl: null,
  modelPort: 6,
  speechPort: 7,
  carrierPort: 10,
  whatsAppPort: 11,
  dailyPort: 12,
  sipPort: 8,
  replicaSipPorts: [13],
  mediaPort: 9,
  binaries: "",
  url: "http://127.0.0.1:8080",
};

const programs = [
  ...servicePrograms(surroundings),
  ...gatewayPrograms(surroundings, "127.0.0.1", 8080, "dist"),
  modelProgram(surroundings),
  speechProgram(surroundings),
  carrierProgram(surroundings),
  whatsAppProgram(surroundings),
  dailyProgram(surroundings),
];
const env = (name: string) => programs.find((program) => program.name === name)?.command.env ?? {};
const holders = (variable: string) => programs.filter(({ command }) => command.env?.[variable]).map(({ name }) => name);

describe("the environment of each process", () => {
  test("every process, in the stack and in the images, gives memory back every two seconds", async () => {
    const variable = "MIMALLOC_PURGE_HOLES_MIN_INTERVAL";
    for (const name of ["gateway", "account", "conversation", "voice"]) expect(env(name)[variable]).toBe("2000");
    const dockerfile = await Bun.file(join(import.meta.dir, "../../deploy/Dockerfile")).text();
    for (const image of ["base", "voice"]) {
      expect(dockerfile).toMatch(new RegExp(`FROM \\S+ AS ${image}\n(#.*\n)?ENV ${variable}=2000\n`));
    }
  });

  test("Bun's own variables for each process are those of its image", async () => {
    const dockerfile = await Bun.file(join(import.meta.dir, "../../deploy/Dockerfile")).text();
    const stages = new Map(dockerfile.split(/^FROM /m).map((stage) => [/^\S+ AS (\S+)\n/.exec(stage)?.[1], stage]));
    // A later stage's value replaces an earlier one's.
    const ofImages = (...images: string[]) => {
      const set = images.flatMap((image) => [...(stages.get(image)?.matchAll(/\b(BUN_[A-Z]\w*)=(\S+)/g) ?? [])]);
      return [...new Map(set.map(([, variable, value]) => [variable, value]))]
        .map(([variable, value]) => `${variable}=${value}`)
        .sort();
    };
    const ofStack = (name: string) =>
      Object.entries(env(name))
        .filter(([variable]) => variable.startsWith("BUN_"))
        .map(([variable, value]) => `${variable}=${value}`)
        .sort();
    for (const name of [
      "gateway",
      "account",
      "agent",
      "prompt",
      "conversation",
      "webhook-dispatcher",
      "messaging",
      "knowledge",
    ]) {
      expect(ofStack(name)).toContain(`BUN_JSC_useFTLJIT=${name === "webhook-dispatcher" ? 1 : 0}`);
      expect(ofImages("base", "service", name)).toEqual(ofStack(name));
    }
    expect(ofStack("voice")).toEqual(ofImages("voice"));
  });

  test("Bun knows the engine's options", async () => {
    const { BUN_JSC_forceRAMSize = "", BUN_JSC_useFTLJIT = "" } = env("conversation");
    const bun = async (variables: Record<string, string>) => {
      const child = Bun.spawn([process.execPath, "-e", "0"], { env: variables, stdio: ["ignore", "ignore", "pipe"] });
      const complaint = await new Response(child.stderr).text();
      return { code: await child.exited, complaint };
    };
    expect(BUN_JSC_forceRAMSize).toBe(String(512 * 1024 * 1024));
    expect(await bun({ BUN_JSC_forceRAMSize, BUN_JSC_useFTLJIT })).toEqual({ code: 0, complaint: "" });
    // Bun does complain about an option that it does not know.
    expect((await bun({ BUN_JSC_noSuchOption: "1" })).complaint).toContain("noSuchOption");
  });

  test("every process gets the operator's settings and none gets the rest of the environment", () => {
    expect(holders("PARLEY_CHAT_IDLE_MINUTES")).toHaveLength(programs.length);
    expect(holders("OTEL_EXPORTER_OTLP_ENDPOINT")).toHaveLength(programs.length);
    const tuned = servicePrograms({ ...surroundings, env: { BUN_JSC_useConcurrentGC: "0" } });
    expect(tuned.map(({ command }) => command.env?.BUN_JSC_useConcurrentGC)).toEqual(tuned.map(() => "0"));
    expect(holders("AWS_SECRET_ACCESS_KEY")).toEqual([]);
  });

  test("the operator's engine settings replace the stack's own", () => {
    const valuesOf = (variable: string, value: string) =>
      new Set(
        servicePrograms({ ...surroundings, env: { [variable]: value } }).map(({ command }) => command.env?.[variable]),
      );
    expect(valuesOf("BUN_JSC_forceRAMSize", "1073741824")).toEqual(new Set(["1073741824"]));
    for (const value of ["0", "1"]) expect(valuesOf("BUN_JSC_useFTLJIT", value)).toEqual(new Set([value]));
  });

  test("a secret reaches only the processes that need it", () => {
    expect(holders("PARLEY_ENCRYPTION_KEY")).toEqual(["account", "agent", "webhook-dispatcher"]);
    expect(holders("PARLEY_TOKEN_KEY")).toEqual(["voice", "messaging"]);
    expect(holders("PARLEY_TURN_SECRET")).toEqual(["voice"]);
    expect(holders("OPENAI_API_KEY")).toEqual(["conversation", "voice"]);
    expect(holders("PARLEY_DAILY_API_KEY")).toEqual(["voice"]);
    expect(holders("PARLEY_EMBEDDINGS_API_KEY")).toEqual(["knowledge"]);
    expect(holders("GROQ_BASE_URL")).toEqual(["conversation"]);
  });

  test("each service connects as its own role, the gateway and the stand-ins not at all", () => {
    expect(env("webhook-dispatcher").DATABASE_URL).toBe("postgres://webhook");
    expect(env("prompt").DATABASE_URL).toBe("postgres://prompt");
    expect(holders("DATABASE_URL")).toHaveLength(8);
  });

  test("the services that check and call owners' addresses may use programs on this machine, plus what the operator allows", () => {
    const allowed = "10.0.0.0/8,localhost,127.0.0.0/8,::1";
    for (const name of ["agent", "conversation", "knowledge", "voice", "webhook-dispatcher"])
      expect(env(name).PARLEY_ALLOWED_PRIVATE_HOSTS).toBe(allowed);
  });

  test("every service and the gateway get the others' addresses", () => {
    expect(env("gateway").PARLEY_CONVERSATION_ADDRESS).toBe("unix:/run/parley/conversation.sock");
    expect(env("gateway").PARLEY_WEBHOOK_ADDRESS).toBe("unix:/run/parley/webhook-dispatcher.sock");
    expect(env("conversation").PARLEY_AGENT_ADDRESS).toBe("unix:/run/parley/agent.sock");
  });

  test("each replica has its own sockets and log, the others get all addresses, and gateways and carriers' WebSockets share a port each", () => {
    const twice = { ...surroundings, replicas: 2 };
    const [one, two] = servicePrograms(twice).filter(({ name }) => /^agent/.test(name));
    expect([one?.name, two?.name]).toEqual(["agent", "agent-2"]);
    expect([one?.command.env?.PARLEY_LISTEN, two?.command.env?.PARLEY_LISTEN]).toEqual([
      "unix:/run/parley/agent.sock",
      "unix:/run/parley/agent-2.sock",
    ]);
    const voices = servicePrograms(twice).filter(({ name }) => /^voice/.test(name));
    expect(voices.map(({ command }) => command.env?.PARLEY_SIP_LISTEN)).toEqual(["127.0.0.1:8", "127.0.0.1:13"]);
    expect(voices.map(({ command }) => command.env?.PARLEY_SIP_LOOPBACK_OPEN)).toEqual(["1", "1"]);
    expect(voices.map(({ command }) => command.env?.PARLEY_VOICE_LISTEN)).toEqual(["127.0.0.1:9", "127.0.0.1:9"]);
    expect(two?.adminAddress).toBe("unix:/run/parley/agent-2.admin.sock");
    expect(two?.command.log).not.toBe(one?.command.log);
    const gateways = gatewayPrograms(twice, "127.0.0.1", 8080, "dist");
    expect(gateways.map(({ name, address }) => `${name} ${address}`)).toEqual([
      "gateway 127.0.0.1:8080",
      "gateway-2 127.0.0.1:8080",
    ]);
    for (const { command } of gateways)
      expect(command.env?.PARLEY_AGENT_ADDRESS).toBe("unix:/run/parley/agent.sock,/run/parley/agent-2.sock");
  });
});

test.each([
  ["127.0.0.1", "http://127.0.0.1:80"],
  ["0.0.0.0", "http://127.0.0.1:80"],
  ["::", "http://[::1]:80"],
  ["::1", "http://[::1]:80"],
  ["localhost", "http://localhost:80"],
])("a gateway that listens on %s is called at %s", (host, url) => {
  expect(gatewayUrl(host, 80)).toBe(url);
});
