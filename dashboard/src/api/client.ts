import createClient, { type ClientPathsWithMethod, type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import { READ_WITHIN_MS } from "../first/requests.ts";
import type { components, paths } from "./gen/schema.ts";
import { Problem, problemIn } from "./problem.ts";

/** The schemas of the OpenAPI document by their names, such as `Schema["Agent"]`. */
export type Schema = components["schemas"];

const client = createClient<paths>({
  // A page is also rendered where there is no address, and sends nothing.
  baseUrl: globalThis.location?.origin ?? "http://localhost",
  fetch: (request) => {
    if (request.method !== "GET") return patiently(request);
    return globalThis.parleyEarly?.(request.url) ?? send(request, READ_WITHIN_MS);
  },
});

/** Writes, and reads that search transcripts or ask a carrier: the gateway waits up to 25 seconds for these. */
const LONG_WITHIN_MS = 30_000;

/** Sends a request that may take long: the option `fetch` of such a read. */
export function patiently(request: Request): Promise<Response> {
  return send(request, LONG_WITHIN_MS);
}

function send(request: Request, withinMs: number): Promise<Response> {
  return fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(withinMs)]) });
}

/** After so many milliseconds, whoever waits for a page is told of a failure, instead of waiting for another attempt. */
const LATE_MS = 3_000;

type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
type PathWith<M extends Method> = ClientPathsWithMethod<typeof client, Lowercase<M>>;
type Init<P extends PathWith<M>, M extends Method> = MaybeOptionalInit<paths[P], Lowercase<M>>;
type Answer<P extends PathWith<M>, M extends Method> = NonNullable<
  FetchResponse<Extract<paths[P][Lowercase<M>], object>, object, "application/json">["data"]
>;
type Requests = {
  [M in Method]: <P extends PathWith<M>>(
    path: P,
    ...init: object extends Init<P, M> ? [Init<P, M>?] : [Init<P, M>]
  ) => Promise<Answer<P, M>>;
};

/**
 * The API that customers use, with the session's cookie. Paths and bodies are checked against its document. Each returns the body of
 * the response.
 * @throws Problem with the API's detail, or status 0 when the gateway cannot be reached or does not respond in time
 */
export const api = Object.fromEntries(
  (["GET", "PUT", "POST", "PATCH", "DELETE"] as const).map((method) => [
    method,
    (path: never, init: never) => bodyOf((client[method] as typeof client.GET)(path, init)),
  ]),
) as unknown as Requests;

/** What the API has at a path. @param signal ends the request when nobody waits for it any more */
export function read<P extends PathWith<"GET">>(
  signal: AbortSignal,
  path: P,
  ...[params]: object extends Params<P> ? [Params<P>?] : [Params<P>]
): Promise<Answer<P, "GET">> {
  // The client's own types cannot be followed for a path that is not known yet.
  return bodyOf(client.GET(path as never, { params, signal } as never)) as Promise<never>;
}

type Params<P extends PathWith<"GET">> = paths[P]["get"]["parameters"];

async function bodyOf(request: Promise<FetchResponse<Record<string, unknown>, object, "application/json">>) {
  const startedAt = performance.now();
  try {
    const { data, error, response } = await request.catch(unreachable);
    if (error !== undefined || !response.ok) throw problemIn(response, error);
    return data;
  } catch (error) {
    if (error instanceof Problem) error.isLate = performance.now() - startedAt > LATE_MS;
    throw error;
  }
}

/** @throws Problem with status 0, or what stopped the request on purpose */
export function unreachable(error: unknown): never {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "AbortError") throw error;
  if (name === "TimeoutError") throw new Problem(0, "The server did not respond in time. Try again in a moment.");
  throw new Problem(0, "The server cannot be reached. Check your connection and try again.");
}
