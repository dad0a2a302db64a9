import { readFileSync } from "node:fs";
import type { FirstOwner } from "./first-owner.ts";
import { type Home, replaceFile } from "./home.ts";

const FILE = "dev.env";

/** Reads the owner, key and password of an earlier start. */
export function readDevEnv(home: Home): FirstOwner | null {
  let text: string;
  try {
    text = readFileSync(home.file(FILE), "utf8");
  } catch {
    return null;
  }
  const value = (name: string) => text.match(new RegExp(`^${name}=(.+)$`, "m"))?.[1];
  const [apiKey, ownerId] = [value("PARLEY_API_KEY"), value("PARLEY_OWNER_ID")];
  const [email, password] = [value("PARLEY_OWNER_EMAIL"), value("PARLEY_OWNER_PASSWORD")];
  return apiKey && ownerId && email && password ? { apiKey, ownerId, login: { email, password } } : null;
}

interface Addresses {
  url: string;
  modelUrl: string;
  speechUrl: string;
  carrierUrl: string;
  whatsAppUrl: string;
  dailyUrl: string;
  /** host:port for calls by SIP. */
  sipAddress: string;
  /** The conversation service's address for voice runtimes. */
  conversationAddress: string;
}

/**
 * Writes variables for a shell to export: `. dev.env`. A shell without Bun also gets a command `bun`, the program that runs the stack.
 * Returns the file's path.
 */
export function writeDevEnv(
  home: Home,
  { apiKey, ownerId, login }: FirstOwner,
  { url, modelUrl, speechUrl, carrierUrl, whatsAppUrl, dailyUrl, sipAddress, conversationAddress }: Addresses,
): string {
  const variables = {
    PARLEY_URL: url,
    PARLEY_API_KEY: apiKey,
    PARLEY_OWNER_ID: ownerId,
    PARLEY_OWNER_EMAIL: login.email,
    PARLEY_OWNER_PASSWORD: login.password,
    PARLEY_MODEL_URL: modelUrl,
    PARLEY_SPEECH_URL: speechUrl,
    PARLEY_CARRIER_URL: carrierUrl,
    PARLEY_WHATSAPP_URL: whatsAppUrl,
    PARLEY_DAILY_URL: dailyUrl,
    PARLEY_SIP_ADDRESS: sipAddress,
    PARLEY_CONVERSATION_ADDRESS: conversationAddress,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const exported = `export ${Object.keys(variables).join(" ")}`;
  const bun = `command -v bun > /dev/null || bun() { ${quoted(process.execPath)} "$@"; }`;
  replaceFile(home.file(FILE), `${[...lines, exported, bun].join("\n")}\n`);
  return home.file(FILE);
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
