import { type ErrorKind, ServiceError, type Violation } from "@parley/shared/errors";
import { apiAddress } from "./call/stack-addresses.ts";
import type { Environment } from "./connection.ts";
import { inItsWords } from "./explain.ts";

/** The public API of the running stack, with the key of `PARLEY_API_KEY`. */
export interface PublicApi {
  /** @throws ServiceError with the API's own words */
  get<T>(path: string): Promise<T>;
  /**
   * @param body a form is sent as such, anything else as JSON
   * @param withinMs how long to wait for the answer, if not half a minute
   */
  post<T>(path: string, body?: object, withinMs?: number): Promise<T>;
  put<T>(path: string, body: object, withinMs?: number): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete<T>(path: string): Promise<T>;
  /** Server-sent events, until they end or the connection is lost. @throws ServiceError when they are refused */
  events(path: string): AsyncGenerator<ServerEvent>;
}

interface ServerEvent {
  event: string;
  data: unknown;
}

const WITHIN_MS = 30_000;
const KINDS: Readonly<Record<number, ErrorKind>> = {
  400: "condition",
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "condition",
  422: "invalid",
  429: "rate_limited",
  503: "unavailable",
};

/** @throws ConfigError when the stack's address or key is unknown */
export function publicApi(env: Environment): PublicApi {
  const { url, apiKey } = apiAddress(env);
  const events = async function* (path: string): AsyncGenerator<ServerEvent> {
    const response = await fetch(`${url}/v1/public${path}`, { headers: { "X-API-Key": apiKey } }).catch(
      (cause: unknown) => {
        throw new ServiceError("unavailable", `The API at ${url} does not answer`, { cause });
      },
    );
    if (!response.ok) throw await refusalOf(response);
    let text = "";
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = (text + piece).split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) {
          const lines = part.split("\n");
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const data = field("data");
          if (data !== undefined) yield { event: field("event") ?? "message", data: JSON.parse(data) };
        }
      }
    } catch (error) {
      // Whoever waits for the end connects again.
      if (error instanceof ServiceError || error instanceof SyntaxError) throw error;
    }
  };
  const send = async <T>(method: string, path: string, body?: object, withinMs = WITHIN_MS): Promise<T> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/v1/public${path}`, {
      method,
      headers: { "X-API-Key": apiKey, ...(body && !isForm && { "Content-Type": "application/json" }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(withinMs),
    }).catch((cause: unknown) => {
      throw new ServiceError("unavailable", `The API at ${url} does not answer`, { cause });
    });
    if (response.ok) return (await response.json().catch(() => ({}))) as T;
    throw await refusalOf(response);
  };
  return {
    get: (path) => send("GET", path),
    post: (path, body, withinMs) => send("POST", path, body, withinMs),
    put: (path, body, withinMs) => send("PUT", path, body, withinMs),
    patch: (path, body) => send("PATCH", path, body),
    delete: (path) => send("DELETE", path),
    events,
  };
}

async function refusalOf(response: Response): Promise<ServiceError> {
  const answer = (await response.json().catch(() => ({}))) as { detail?: string; errors?: Violation[] };
  const detail = answer.detail ?? `The API answered with ${response.status}`;
  return new ServiceError(KINDS[response.status] ?? "internal", detail, { violations: answer.errors ?? [] });
}

/** The same for commands whose options are not the API's fields: refusals keep the names of the fields. */
export function plainApi(env: Environment): PublicApi {
  const api = publicApi(env);
  return {
    get: (path) => api.get<never>(path).catch(inItsWords),
    post: (path, body, withinMs) => api.post<never>(path, body, withinMs).catch(inItsWords),
    put: (path, body, withinMs) => api.put<never>(path, body, withinMs).catch(inItsWords),
    patch: (path, body) => api.patch<never>(path, body).catch(inItsWords),
    delete: (path) => api.delete<never>(path).catch(inItsWords),
    events: (path) => api.events(path),
  };
}
