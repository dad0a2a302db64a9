import { ServiceError } from "@parley/shared/errors";

/** How a provider is reached. */
export interface Access {
  /** Its name in an agent's configuration. */
  provider: string;
  /** The place of its key, for error messages: an environment variable or a field of the agent. */
  keyName: string;
  apiKey: string;
  /** `https://`, for WebSockets too; `http://` where an operator says so. Without a slash at its end. */
  baseUrl: string;
  /** Shorter times for tests. */
  times?: Partial<Times> | undefined;
}

/** Times in milliseconds. */
export interface Times {
  connectMs: number;
  /** Before the first attempt to reconnect; doubled for each further one, up to a second. */
  retryMs: number;
  /** How long the user's audio is kept without a connection. */
  keepMs: number;
  /** How long a provider may take for the answer to `finalize`. */
  finalizeMs: number;
  /** The longest pause in the arrival of a reply's audio. */
  stallMs: number;
  /** The interval between transcriptions of an utterance that has not ended. */
  partialMs: number;
}

const TIMES: Times = {
  connectMs: 5_000,
  retryMs: 100,
  keepMs: 10_000,
  finalizeMs: 2_000,
  stallMs: 10_000,
  partialMs: 700,
};

export function timesOf({ times }: Pick<Access, "times">): Times {
  return { ...TIMES, ...times };
}

/** The address of a WebSocket below the base address. */
export function socketUrl(
  { baseUrl }: Access,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(`${baseUrl.replace(/^http/, "ws")}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** The error for an HTTP status; null for one after which another attempt may work. */
export function refusal(
  { provider, keyName }: Pick<Access, "provider" | "keyName">,
  status: number,
): ServiceError | null {
  if (status === 401 || status === 403)
    return new ServiceError("upstream_failed", `${provider} refused the key in ${keyName} (${status}): check it`);
  if (status < 400 || status === 408 || status === 429 || status >= 500) return null;
  return new ServiceError(
    "upstream_failed",
    `${provider} refused the request (${status}): check the model, voice and language`,
  );
}

/** The error for a provider that cannot be reached, or does not respond as it should, for too long. */
export function unreachable(provider: string, why: string): ServiceError {
  return new ServiceError("upstream_failed", `${provider} does not work: ${why}`);
}

/** The language without its region, such as `en`. */
export function baseLanguage(language: string | undefined): string | undefined {
  return language?.split("-")[0]?.toLowerCase();
}
