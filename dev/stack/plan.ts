import { join } from "node:path";
import type { Schema } from "@parley/shared/db/provision";
import { socketPath } from "@parley/shared/rpc/unix-sockets";
import type { Program } from "../processes/keep-running.ts";
import { pingHttp, pingRpc } from "../processes/ping.ts";
import type { Home } from "./home.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const LOOPBACK = "127.0.0.1";

/** What a process takes at most when it is asked to stop: until its calls are over, and after that. */
const DRAIN_MS = 10_000;
const AFTER_DRAIN_MS = 15_000;

/** The services: whose tables, under which variable the others find each, and what it alone is given. */
export const SERVICES = [
  { name: "account", schema: "account", variable: "PARLEY_ACCOUNT_ADDRESS", given: [] },
  { name: "agent", schema: "agent", variable: "PARLEY_AGENT_ADDRESS", given: ["PARLEY_ENCRYPTION_KEY"] },
  { name: "prompt", schema: "prompt", variable: "PARLEY_PROMPT_ADDRESS", given: [] },
  {
    name: "conversation",
    schema: "conversation",
    variable: "PARLEY_CONVERSATION_ADDRESS",
    given: [/_API_KEY$/, /_BASE_URL$/],
  },
  {
    name: "webhook-dispatcher",
    schema: "webhook",
    variable: "PARLEY_WEBHOOK_ADDRESS",
    given: ["PARLEY_ENCRYPTION_KEY"],
  },
] as const satisfies readonly { name: string; schema: Schema; variable: string; given: readonly (string | RegExp)[] }[];

export type ServiceName = (typeof SERVICES)[number]["name"];
/** Every process that serves its health and metrics. */
export type WatchedName = ServiceName | "gateway";
export const WATCHED: readonly WatchedName[] = [...SERVICES.map(({ name }) => name), "gateway"];

/** What every process is passed of the operator's environment, and what only those that name it. */
const OPERATORS = [/^PARLEY_/, /^OTEL_/, "NODE_EXTRA_CA_CERTS"];
const SECRETS = ["PARLEY_ENCRYPTION_KEY"];

/** Bun's `fetch` makes 256 requests at once unless it is told otherwise, and a streamed reply is one as long as it lasts. */
const MODEL_REQUESTS = { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" };

export interface Surroundings {
  home: Home;
  /** The operator's environment, with what the stack itself has made up. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder of the sockets that the services, and everybody's health and metrics, are served on. */
  sockets: string;
  /** Of every service and the gateway. */
  replicas: number;
  databaseUrls: Readonly<Record<Schema, string>>;
  redisUrl: string | null;
  modelPort: number;
}

export function servicePrograms(surroundings: Surroundings): Program[] {
  const { home, env, databaseUrls, modelPort } = surroundings;
  return SERVICES.flatMap(({ name, schema, given }) =>
    replicasOf(name, surroundings).map((called) => {
      const address = socketOf(surroundings, called);
      const adminAddress = adminSocketOf(surroundings, called);
      const program = bunProgram(home, { name, called }, address, () => pingRpc(address), {
        ...select(env, OPERATORS, SECRETS),
        ...select(env, given),
        // Who takes a model's address, and who calls it.
        ...(["agent", "conversation"].includes(name) && allowModel(env, modelPort)),
        ...(name === "conversation" && MODEL_REQUESTS),
        ...addresses(surroundings),
        PARLEY_ADMIN_LISTEN: adminAddress,
        PARLEY_LISTEN: address,
        DATABASE_URL: databaseUrls[schema],
      });
      return { ...program, adminAddress };
    }),
  );
}

/** All on one port, which the system shares out among those that listen. */
export function gatewayPrograms(surroundings: Surroundings, host: string, port: number): Program[] {
  const { home, env, redisUrl } = surroundings;
  return replicasOf("gateway", surroundings).map((called) => {
    const adminAddress = adminSocketOf(surroundings, called);
    // Its own socket: on the port any of them may answer.
    const ping = () => pingHttp("http://localhost/readyz", adminAddress);
    const program = bunProgram(home, { name: "gateway", called }, `${reachable(host)}:${port}`, ping, {
      ...select(env, OPERATORS, SECRETS),
      ...addresses(surroundings),
      PORT: String(port),
      PARLEY_HOST: host,
      PARLEY_ADMIN_LISTEN: adminAddress,
      ...(redisUrl && { REDIS_URL: redisUrl }),
    });
    return { ...program, adminAddress };
  });
}

/** The address of a service's first replica, in a form that every gRPC client takes. */
export function serviceAddress(surroundings: Pick<Surroundings, "sockets">, name: ServiceName): string {
  return socketOf(surroundings, name);
}

export function modelProgram({ home, env, modelPort }: Surroundings): Program {
  const address = modelAddress(modelPort);
  return bunProgram(home, { name: "model", called: "model" }, address, () => pingHttp(`http://${address}/healthz`), {
    ...select(env, OPERATORS, SECRETS),
    PORT: String(modelPort),
  });
}

/** The stand-in model's address as an OpenAI client takes it. */
export function modelUrl(port: number): string {
  return `http://${modelAddress(port)}/v1`;
}

/** Where a client on this machine finds a gateway that listens on `host`. */
export function gatewayUrl(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
}

function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "") return LOOPBACK;
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function bunProgram(
  home: Home,
  { name, called }: { name: string; called: string },
  address: string,
  ping: () => Promise<void>,
  env: Record<string, string>,
): Program {
  const script = { gateway: "gateway/src/main.ts", model: "dev/stand-ins/model/main.ts" }[name];
  // What is in a .env file of the checkout reaches a process through us, or not at all.
  const args = [process.execPath, "--no-env-file", script ?? `services/${name}/src/main.ts`];
  const command = { args, env, cwd: CHECKOUT, log: home.log(called), stopSignal: "SIGTERM" } as const;
  return {
    name: called,
    address,
    ping,
    command,
    stopWithinMs: Number(env.PARLEY_DRAIN_MS ?? DRAIN_MS) + AFTER_DRAIN_MS,
  };
}

function modelAddress(port: number): string {
  return `${LOOPBACK}:${port}`;
}

/** Private hosts are out of bounds for agents' models, except what the operator lists and the stand-in. */
function allowModel(env: Surroundings["env"], modelPort: number): Record<string, string> {
  const allowed = [env.PARLEY_ALLOWED_PRIVATE_HOSTS, modelAddress(modelPort)].filter(Boolean);
  return { PARLEY_ALLOWED_PRIVATE_HOSTS: allowed.join(",") };
}

function addresses(surroundings: Surroundings): Record<string, string> {
  return Object.fromEntries(
    SERVICES.map(({ name, variable }) => {
      const [first = "", ...others] = replicasOf(name, surroundings).map((called) => socketOf(surroundings, called));
      return [variable, [first, ...others.map(socketPath)].join()];
    }),
  );
}

/** What each replica is called, such as `agent` and `agent-2`. */
function replicasOf(name: WatchedName, { replicas }: Surroundings): string[] {
  return Array.from({ length: replicas }, (_, at) => (at === 0 ? name : `${name}-${at + 1}`));
}

function socketOf({ sockets }: Pick<Surroundings, "sockets">, called: string): string {
  return `unix:${join(sockets, `${called}.sock`)}`;
}

function adminSocketOf(surroundings: Surroundings, called: string): string {
  return socketOf(surroundings, `${called}.admin`);
}

/** The variables that have one of the names or match one of the patterns, and are not kept back. */
function select(
  env: Readonly<Record<string, string | undefined>>,
  wanted: readonly (string | RegExp)[],
  keptBack: readonly string[] = [],
): Record<string, string> {
  const matches = (name: string) => wanted.some((want) => (typeof want === "string" ? want === name : want.test(name)));
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && matches(entry[0]) && !keptBack.includes(entry[0]),
  );
  return Object.fromEntries(entries);
}
