import { readBounded } from "../bounded-bytes.ts";
import { CarrierRefusal, CarrierUnavailable } from "./errors.ts";

/** The REST API of one carrier account. */
export interface CarrierRest {
  /** @throws CarrierRefusal (4xx), CarrierUnavailable (no answer in time, 429, 5xx, or an answer that is not the carrier's) */
  send(method: "GET" | "POST" | "DELETE", path: string, sent?: Sent): Promise<CarrierAnswer>;
}

interface Sent {
  /** Values that are undefined are left out. */
  query?: Readonly<Record<string, string | undefined>>;
  /** As application/x-www-form-urlencoded; a list sends its name once for each value. */
  form?: Readonly<Record<string, string | readonly string[] | undefined>>;
  json?: object;
  multipart?: FormData;
  signal?: AbortSignal | undefined;
}

/** An object of the answer, with a list in `items`; {} if it has no body. */
export type CarrierAnswer = Readonly<Record<string, unknown>>;

interface RestSettings {
  /** The carrier's name in messages, such as `Twilio`. */
  carrier: string;
  /** The operator sets it, so it is not guarded. */
  baseUrl: string;
  /** The value of the Authorization header. */
  authorization: string;
  /** Reads the carrier's own code and words from the body of a refusal. */
  reasonOf(body: CarrierAnswer): { code?: string | undefined; words?: string | undefined };
  /** 8 seconds by default. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 8_000;
/** Timeout of a call to a service that asks a carrier three times. */
export const CARRIER_CALL_MS = 25_000;
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const WORDS_MAX = 300;

export function carrierRest(settings: RestSettings): CarrierRest {
  const { carrier, baseUrl, authorization, timeoutMs = TIMEOUT_MS } = settings;
  return {
    send: async (method, path, { query, form, json, multipart, signal } = {}) => {
      const url = new URL(baseUrl.replace(/\/$/, "") + path);
      for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined) url.searchParams.set(name, value);
      }
      const deadline = AbortSignal.timeout(timeoutMs);
      const init: RequestInit = {
        method,
        headers: { Authorization: authorization, Accept: "application/json", ...(json && JSON_TYPE) },
        redirect: "manual",
        signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      };
      if (form) init.body = formOf(form);
      if (json) init.body = JSON.stringify(json);
      if (multipart) init.body = multipart;
      try {
        const response = await fetch(url, init);
        return judged(settings, response, await readText(response));
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof CarrierRefusal || error instanceof CarrierUnavailable) throw error;
        throw new CarrierUnavailable(`${carrier} cannot be reached`, null, error);
      }
    },
  };
}

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

const JSON_TYPE = { "Content-Type": "application/json" };

function formOf(form: NonNullable<Sent["form"]>): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    if (value === undefined) continue;
    for (const one of typeof value === "string" ? [value] : value) params.append(name, one);
  }
  return params;
}

function judged({ carrier, reasonOf }: RestSettings, response: Response, text: string): CarrierAnswer {
  const { status } = response;
  const body = objectIn(text);
  if (status >= 200 && status < 300) {
    if (body === null) throw new CarrierUnavailable(`${carrier} answered with something that is not JSON`);
    return body;
  }
  const { code, words } = reasonOf(body ?? {});
  if (status === 408 || status === 429 || status >= 500) {
    throw new CarrierUnavailable(`${carrier} answered ${status}`, retryAfterMs(response));
  }
  const shown = words?.slice(0, WORDS_MAX) || `${carrier} answered ${status}`;
  throw new CarrierRefusal(code || String(status), shown, status);
}

/** Null for anything that is neither a JSON object nor a list. */
function objectIn(text: string): CarrierAnswer | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { items: value };
    return typeof value === "object" && value !== null ? (value as CarrierAnswer) : null;
  } catch {
    return null;
  }
}

function retryAfterMs(response: Response): number | null {
  const seconds = response.headers.get("retry-after");
  return seconds !== null && /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1_000 : null;
}

async function readText(response: Response): Promise<string> {
  const bytes = await readBounded(response, ANSWER_BYTES_MAX);
  if (!bytes) throw new Error("the response is too long");
  return new TextDecoder().decode(bytes);
}
