import { join } from "node:path";
import { programWords } from "@parley/shared/process/program-words";
import type { Program } from "../processes/keep-running.ts";
import type { Home } from "./home.ts";
import { runtimeSettings } from "./runtime-settings.ts";

const CHECKOUT = join(import.meta.dir, "../..");

/** How long a process may take to stop: until its calls have ended, and after that. */
const DRAIN_MS = 10_000;
const AFTER_DRAIN_MS = 15_000;

/** The sources of the processes that are not services. */
const SCRIPTS: Readonly<Record<string, string>> = {
  gateway: "gateway/src/main.ts",
  model: "dev/stand-ins/model/main.ts",
  speech: "dev/stand-ins/speech/main.ts",
  carrier: "dev/stand-ins/carrier/main.ts",
  whatsapp: "dev/stand-ins/whatsapp/main.ts",
  daily: "dev/stand-ins/daily/main.ts",
};

type Variables = Readonly<Record<string, string | undefined>>;

/** @param binaries folder with binaries to run instead of the sources, "" for none */
export function bunProgram(
  { home, binaries }: { home: Home; binaries: string },
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
    stopWithinMs: Number(env.PARLEY_DRAIN_MS ?? DRAIN_MS) + Number(env.PARLEY_CALLS_DRAIN_MS ?? 0) + AFTER_DRAIN_MS,
  };
}

/** The operator's variables that every process gets, and those that only processes that name them get. */
const OPERATORS = [/^PARLEY_/, /^OTEL_/, /^BUN_JSC_/, "NODE_EXTRA_CA_CERTS"];
const SECRETS = [
  "PARLEY_ENCRYPTION_KEY",
  "PARLEY_TOKEN_KEY",
  "PARLEY_TURN_SECRET",
  "PARLEY_RECORDINGS_SECRET_KEY",
  "PARLEY_DAILY_API_KEY",
  "PARLEY_EMBEDDINGS_API_KEY",
];

/** The operator's variables for every process. */
export function operatorsVariables(env: Variables): Record<string, string> {
  return select(env, OPERATORS, SECRETS);
}

/** The variables that match a name or pattern, except the withheld ones. */
export function select(
  env: Variables,
  wanted: readonly (string | RegExp)[],
  keptBack: readonly string[] = [],
): Record<string, string> {
  const matches = (name: string) => wanted.some((want) => (typeof want === "string" ? want === name : want.test(name)));
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && matches(entry[0]) && !keptBack.includes(entry[0]),
  );
  return Object.fromEntries(entries);
}
