import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError, readConfig } from "@parley/shared/config";
import { str } from "envalid";
import type { Environment } from "../connection.ts";

export interface StackAddresses {
  /** host:port. */
  sip: string;
  /** With /v1. */
  speechUrl: string;
  /** The gateway's URL. */
  url: string;
  apiKey: string;
}

/** The addresses of the whole stack. @throws ConfigError naming what is missing */
export function stackAddresses(env: Environment): StackAddresses {
  const [sip = "", speechUrl = "", url = "", apiKey = ""] = valuesOf(env, [
    "PARLEY_SIP_ADDRESS",
    "PARLEY_SPEECH_URL",
    "PARLEY_URL",
    "PARLEY_API_KEY",
  ]);
  return { sip, speechUrl, url, apiKey };
}

/** The address of the public API alone. @throws ConfigError likewise */
export function apiAddress(env: Environment): Pick<StackAddresses, "url" | "apiKey"> {
  const [url = "", apiKey = ""] = valuesOf(env, ["PARLEY_URL", "PARLEY_API_KEY"]);
  return { url, apiKey };
}

/** The address of the carriers' stand-in. @throws ConfigError likewise */
export function carrierStandIn(env: Environment): string {
  const [url = ""] = valuesOf(env, ["PARLEY_CARRIER_URL"]);
  return url;
}

/** The address of Daily's stand-in. @throws ConfigError likewise */
export function dailyStandIn(env: Environment): string {
  const [url = ""] = valuesOf(env, ["PARLEY_DAILY_URL"]);
  return url;
}

/** From the environment or else from the running stack's dev.env. */
function valuesOf(env: Environment, names: readonly string[]): string[] {
  const { PARLEY_HOME: home } = readConfig(env, { PARLEY_HOME: str({ default: ".parley" }) });
  const path = resolve(join(home, "dev.env"));
  const file = existsSync(path) ? readFileSync(path, "utf8") : "";
  return names.map((name) => {
    const value = env[name] || new RegExp(`^${name}=(.+)$`, "m").exec(file)?.[1];
    if (!value)
      throw new ConfigError(
        `${name} is not set and not in ${path}: start the stack with "bun run start", or select another with PARLEY_HOME`,
      );
    if (name.endsWith("_URL") && !/^https?:\/\//i.test(value))
      throw new ConfigError(`${name} must begin with https:// or http://, not be ${value}`);
    return value;
  });
}
