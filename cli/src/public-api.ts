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
    const answer = (await response.json().catch(() => ({}))) as T & { detail?: string; errors?: Violation[] };
    if (response.ok) return answer;
    const detail = answer.detail ?? `The API answered with ${response.status}`;
    throw new ServiceError(KINDS[response.status] ?? "internal", detail, { violations: answer.errors ?? [] });
  };
  return {
    get: (path) => send("GET", path),
    post: (path, body, withinMs) => send("POST", path, body, withinMs),
    put: (path, body, withinMs) => send("PUT", path, body, withinMs),
    patch: (path, body) => send("PATCH", path, body),
    delete: (path) => send("DELETE", path),
  };
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
  };
}
