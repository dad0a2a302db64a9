import { join } from "node:path";
import type { Schema } from "@parley/shared/db/provision";
import { reachable } from "@parley/shared/process/health";
import { socketPath } from "@parley/shared/rpc/socket-path";
import type { Program } from "../processes/keep-running.ts";
import { pingHttp, pingRpc } from "../processes/ping.ts";
import { bunProgram, operatorsVariables, select } from "./bun-program.ts";
import type { Home } from "./home.ts";
import {
  allowLoopback,
  carriers,
  dailyKey,
  defaultModel,
  defaultSpeech,
  type StandInPlaces,
  whatsApp,
} from "./stand-in-settings.ts";

const LOOPBACK = "127.0.0.1";

/** The services: their schema, the variable with their address, and the variables that only they get. */
export const SERVICES = [
  { name: "account", schema: "account", variable: "PARLEY_ACCOUNT_ADDRESS", given: ["PARLEY_ENCRYPTION_KEY"] },
  { name: "agent", schema: "agent", variable: "PARLEY_AGENT_ADDRESS", given: ["PARLEY_ENCRYPTION_KEY"] },
  { name: "prompt", schema: "prompt", variable: "PARLEY_PROMPT_ADDRESS", given: [] },
  {
    name: "conversation",
    schema: "conversation",
    variable: "PARLEY_CONVERSATION_ADDRESS",
    given: [/^(?!PARLEY_)\w+_API_KEY$/, /_BASE_URL$/, /^PARLEY_SMTP_/],
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
      "PARLEY_TOKEN_KEY",
      "PARLEY_TURN_SECRET",
      "PARLEY_RECORDINGS_SECRET_KEY",
      "PARLEY_DAILY_API_KEY",
      /^(DEEPGRAM|ASSEMBLYAI|ELEVENLABS|CARTESIA|OPENAI|GOOGLE|GOOGLE_TTS)_(API_KEY|BASE_URL)$/,
    ],
  },
  {
    name: "messaging",
    schema: "messaging",
    variable: "PARLEY_MESSAGING_ADDRESS",
    given: ["PARLEY_TOKEN_KEY"],
  },
  {
    name: "knowledge",
    schema: "knowledge",
    variable: "PARLEY_KNOWLEDGE_ADDRESS",
    given: [/^PARLEY_EMBEDDINGS_/],
  },
] as const satisfies readonly { name: string; schema: Schema; variable: string; given: readonly (string | RegExp)[] }[];

export type ServiceName = (typeof SERVICES)[number]["name"];
/** Every process that serves its health and metrics. */
export type WatchedName = ServiceName | "gateway";
/** The processes that play what Parley calls outside. */
export type StandInName = "model" | "speech" | "carrier" | "whatsapp" | "daily";

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
        ...operatorsVariables(env),
        ...select(env, given),
        // The agent service checks owners' addresses, the others call them.
        ...(["agent", "conversation", "knowledge", "voice", "webhook-dispatcher"].includes(name) &&
          allowLoopback(surroundings)),
        ...(name === "conversation" && defaultModel(surroundings)),
        ...(name === "voice" && {
          PARLEY_SIP_LISTEN: sipAddress ?? "",
          PARLEY_SIP_LOOPBACK_OPEN: env.PARLEY_SIP_LOOPBACK_OPEN ?? "1",
          PARLEY_CALLS_DRAIN_MS: callsDrainMs(env),
        }),
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

/** A developer who stops the stack does not want to wait for calls. */
function callsDrainMs({ PARLEY_CALLS_DRAIN_MS: ms }: Surroundings["env"]): string {
  return ms || "10000";
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
      ...operatorsVariables(env),
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

/** The URL for clients on this machine of a gateway that listens on `host`. */
export function gatewayUrl(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
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
