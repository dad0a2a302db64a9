import { join } from "node:path";
import type { Schema } from "@parley/shared/db/provision";
import { programWords } from "@parley/shared/program-words";
import { socketPath } from "@parley/shared/rpc/unix-sockets";
import type { Program } from "../processes/keep-running.ts";
import { pingHttp, pingRpc } from "../processes/ping.ts";
import type { Home } from "./home.ts";
import {
  allowStandIns,
  carriers,
  dailyKey,
  defaultModel,
  defaultSpeech,
  type StandInPlaces,
  standInAddress,
  standInUrl,
  whatsApp,
} from "./stand-in-settings.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const LOOPBACK = "127.0.0.1";

/** How long a process may take to stop: until its calls have ended, and after that. */
const DRAIN_MS = 10_000;
const AFTER_DRAIN_MS = 15_000;

/** The services: their schema, the variable with their address, and the variables that only they get. */
export const SERVICES = [
  { name: "account", schema: "account", variable: "PARLEY_ACCOUNT_ADDRESS", given: ["PARLEY_ENCRYPTION_KEY"] },
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
  {
    name: "voice",
    schema: "voice",
    variable: "PARLEY_VOICE_ADDRESS",
    given: [
      "PARLEY_RECORDINGS_SECRET_KEY",
      "PARLEY_DAILY_API_KEY",
      /^(DEEPGRAM|ASSEMBLYAI|ELEVENLABS|CARTESIA|OPENAI|GOOGLE|GOOGLE_TTS)_(API_KEY|BASE_URL)$/,
    ],
  },
  {
    name: "messaging",
    schema: "messaging",
    variable: "PARLEY_MESSAGING_ADDRESS",
    given: ["PARLEY_ENCRYPTION_KEY"],
  },
] as const satisfies readonly { name: string; schema: Schema; variable: string; given: readonly (string | RegExp)[] }[];

export type ServiceName = (typeof SERVICES)[number]["name"];
/** Every process that serves its health and metrics. */
export type WatchedName = ServiceName | "gateway";
/** The processes that play what Parley calls outside. */
export type StandInName = "model" | "speech" | "carrier" | "whatsapp" | "daily";
export const WATCHED: readonly WatchedName[] = [...SERVICES.map(({ name }) => name), "gateway"];

/** The operator's variables that every process gets, and those that only processes that name them get. */
const OPERATORS = [/^PARLEY_/, /^OTEL_/, /^BUN_JSC_/, "NODE_EXTRA_CA_CERTS"];
const SECRETS = ["PARLEY_ENCRYPTION_KEY", "PARLEY_RECORDINGS_SECRET_KEY", "PARLEY_DAILY_API_KEY"];

/**
 * By default Bun's `fetch` makes 256 concurrent requests, and a streamed reply counts for as long as it lasts. And a heap may double
 * until the process takes a quarter of the machine's memory; the last variable (bytes) is what the engine takes for the machine's
 * memory. From half of it on, a heap may grow by a quarter only, and every collection is a full one, which stops the process for 15 ms.
 */
const MANY_TURNS = { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000", BUN_JSC_forceRAMSize: "536870912" };

/** By default, Bun's allocator looks for memory to return every 100 ms: 5 to 8 % of the CPU of chat turns (bench/README.md). */
const RARE_SWEEPS = { MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "2000" };

/**
 * The engine's last compiler took a tenth of the CPU of chat turns for as long as a process was young, and what it compiled was no
 * faster (bench/README.md). Processes that compute with audio keep it.
 */
const FEW_COMPILERS = { BUN_JSC_useFTLJIT: "0" };
const COMPUTING: readonly string[] = ["voice", "speech"];
/** A busy webhook dispatcher runs the same code thousands of times a second: a ninth less CPU for a delivery (bench/README.md). */
const ALL_COMPILERS = { BUN_JSC_useFTLJIT: "1" };

/** The runtime's settings for a program, which the operator's own replace. */
function runtimeSettings(name: string): Record<string, string> {
  return {
    ...RARE_SWEEPS,
    ...(!COMPUTING.includes(name) && FEW_COMPILERS),
    ...(name === "conversation" && MANY_TURNS),
    ...(name === "webhook-dispatcher" && ALL_COMPILERS),
  };
}

export interface Surroundings extends StandInPlaces {
  home: Home;
  /** The operator's environment, with the variables that the stack generated. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder of the sockets for the services, and for the health and metrics of all processes. */
  sockets: string;
  /** Replicas of every service and of the gateway. */
  replicas: number;
  databaseUrls: Readonly<Record<Schema, string>>;
  redisUrl: string | null;
  sipPort: number;
  /** The SIP ports of the voice processes after the first. */
  replicaSipPorts: readonly number[];
  mediaPort: number;
  /** Folder with binaries to run instead of the sources, "" for none. */
  binaries: string;
}

export function servicePrograms(surroundings: Surroundings): Program[] {
  const { env, databaseUrls } = surroundings;
  return SERVICES.flatMap(({ name, schema, given }) =>
    replicasOf(name, surroundings).map((called, number) => {
      const address = socketOf(surroundings, called);
      const adminAddress = adminSocketOf(surroundings, called);
      const voiceSip = number === 0 ? sipAddressOf(surroundings) : replicaSipAddress(surroundings, number);
      const sipAddress = name === "voice" ? voiceSip : undefined;
      const mediaAddress = name === "voice" ? mediaAddressOf(surroundings) : undefined;
      const program = bunProgram(surroundings, { name, called }, address, () => pingRpc(address), {
        ...select(env, OPERATORS, SECRETS),
        ...select(env, given),
        // The agent service checks the stand-ins' addresses, the others call them.
        ...(["agent", "conversation", "voice"].includes(name) && allowStandIns(surroundings, name)),
        ...(name === "conversation" && defaultModel(surroundings)),
        ...(name === "voice" && { PARLEY_SIP_LISTEN: sipAddress ?? "" }),
        ...(mediaAddress && { PARLEY_VOICE_LISTEN: mediaAddress }),
        ...(name === "voice" && { ...defaultSpeech(surroundings), ...kept(surroundings), ...dailyKey(surroundings) }),
        ...(["account", "voice"].includes(name) && carriers(surroundings)),
        ...(["account", "messaging"].includes(name) && whatsApp(surroundings)),
        ...addresses(surroundings),
        PARLEY_ADMIN_LISTEN: adminAddress,
        PARLEY_LISTEN: address,
        DATABASE_URL: databaseUrls[schema],
      });
      return { ...program, adminAddress, ...(sipAddress && { sipAddress }), ...(mediaAddress && { mediaAddress }) };
    }),
  );
}

/** Recordings are in the stack's folder unless the operator says otherwise. */
function kept({ home, env }: Surroundings): Record<string, string> {
  return { PARLEY_RECORDINGS: env.PARLEY_RECORDINGS || home.file("recordings") };
}

/** Where calls by SIP reach the first voice process. */
export function sipAddressOf({ env, sipPort }: Pick<Surroundings, "env" | "sipPort">): string {
  return env.PARLEY_SIP_LISTEN || `${LOOPBACK}:${sipPort}`;
}

/** Where a further voice process listens for SIP, because any of them may place calls; none with SIP over TLS, which has only one port. */
function replicaSipAddress(surroundings: Surroundings, number: number): string | undefined {
  const port = surroundings.replicaSipPorts[number - 1];
  if (port === undefined || surroundings.env.PARLEY_SIP_TLS_CERT) return undefined;
  return sipAddressOf(surroundings).replace(/:\d+$/, `:${port}`);
}

/** Where carriers' WebSockets reach the voice processes, which share the port: any of them takes any stream. */
function mediaAddressOf({ env, mediaPort }: Pick<Surroundings, "env" | "mediaPort">): string {
  return env.PARLEY_VOICE_LISTEN || `${LOOPBACK}:${mediaPort}`;
}

/**
 * All gateways share one port; the system distributes connections among them.
 * @param dashboard folder with the built dashboard
 */
export function gatewayPrograms(surroundings: Surroundings, host: string, port: number, dashboard: string): Program[] {
  const { env, redisUrl } = surroundings;
  return replicasOf("gateway", surroundings).map((called) => {
    const adminAddress = adminSocketOf(surroundings, called);
    // Uses each gateway's own socket, because on the port any of them may answer.
    const ping = () => pingHttp("http://localhost/readyz", adminAddress);
    const program = bunProgram(surroundings, { name: "gateway", called }, `${reachable(host)}:${port}`, ping, {
      ...select(env, OPERATORS, SECRETS),
      ...addresses(surroundings),
      PORT: String(port),
      PARLEY_HOST: host,
      PARLEY_DASHBOARD: dashboard,
      PARLEY_ADMIN_LISTEN: adminAddress,
      ...(redisUrl && { REDIS_URL: redisUrl }),
    });
    return { ...program, adminAddress };
  });
}

/** The address of a service's first replica, in a form that every gRPC client accepts. */
export function serviceAddress(surroundings: Pick<Surroundings, "sockets">, name: ServiceName): string {
  return socketOf(surroundings, name);
}

export function modelProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "model", surroundings.modelPort);
}

export function speechProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "speech", surroundings.speechPort);
}

export function whatsAppProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "whatsapp", surroundings.whatsAppPort, speechOf(surroundings));
}

export function dailyProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "daily", surroundings.dailyPort, speechOf(surroundings));
}

export function carrierProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "carrier", surroundings.carrierPort, speechOf(surroundings));
}

function speechOf({ speechPort }: Surroundings): Record<string, string> {
  return { PARLEY_SPEECH_URL: standInUrl(speechPort) };
}

function standInProgram(
  surroundings: Surroundings,
  name: StandInName,
  port: number,
  further: Record<string, string> = {},
): Program {
  const address = standInAddress(port);
  return bunProgram(surroundings, { name, called: name }, address, () => pingHttp(`http://${address}/healthz`), {
    ...select(surroundings.env, OPERATORS, SECRETS),
    ...further,
    PORT: String(port),
  });
}

/** The URL for clients on this machine of a gateway that listens on `host`. */
export function gatewayUrl(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
}

function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "") return LOOPBACK;
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** The sources of the processes that are not services. */
const SCRIPTS: Readonly<Record<string, string>> = {
  gateway: "gateway/src/main.ts",
  model: "dev/stand-ins/model/main.ts",
  speech: "dev/stand-ins/speech/main.ts",
  carrier: "dev/stand-ins/carrier/main.ts",
  whatsapp: "dev/stand-ins/whatsapp/main.ts",
  daily: "dev/stand-ins/daily/main.ts",
};

function bunProgram(
  { home, binaries }: Pick<Surroundings, "home" | "binaries">,
  { name, called }: { name: string; called: string },
  address: string,
  ping: () => Promise<void>,
  env: Record<string, string>,
): Program {
  const script = SCRIPTS[name];
  // Processes get a .env file of the checkout only through the stack.
  const args = programWords(name, script ?? `services/${name}/src/main.ts`, binaries);
  const command = {
    args,
    env: { ...runtimeSettings(name), ...env },
    cwd: CHECKOUT,
    log: home.log(called),
    stopSignal: "SIGTERM",
  } as const;
  return {
    name: called,
    address,
    ping,
    command,
    stopWithinMs: Number(env.PARLEY_DRAIN_MS ?? DRAIN_MS) + AFTER_DRAIN_MS,
  };
}

function addresses(surroundings: Surroundings): Record<string, string> {
  return Object.fromEntries(
    SERVICES.map(({ name, variable }) => {
      const [first = "", ...others] = replicasOf(name, surroundings).map((called) => socketOf(surroundings, called));
      return [variable, [first, ...others.map(socketPath)].join()];
    }),
  );
}

/** The names of the replicas, such as `agent` and `agent-2`. */
function replicasOf(name: WatchedName, { replicas }: Surroundings): string[] {
  return Array.from({ length: replicas }, (_, at) => (at === 0 ? name : `${name}-${at + 1}`));
}

function socketOf({ sockets }: Pick<Surroundings, "sockets">, called: string): string {
  return `unix:${join(sockets, `${called}.sock`)}`;
}

function adminSocketOf(surroundings: Surroundings, called: string): string {
  return socketOf(surroundings, `${called}.admin`);
}

/** The variables that match a name or pattern, except the withheld ones. */
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
