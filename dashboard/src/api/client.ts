import createClient, { type FetchResponse } from "openapi-fetch";
import { READ_WITHIN_MS } from "../first/requests.ts";
import type { components, paths } from "./gen/schema.ts";
import { Problem, problemIn } from "./problem.ts";

/** The schemas of the OpenAPI document by their names, such as `Schema["Agent"]`. */
export type Schema = components["schemas"];

/** The API that customers use, with the session's cookie. Paths and bodies are checked against its document. */
export const api = createClient<paths>({
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

/**
 * The body of a response.
 * @throws Problem with the API's detail, or status 0 when the gateway cannot be reached or does not respond in time
 */
export async function ask<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  request: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>["data"]>> {
  const startedAt = performance.now();
  try {
    const { data, error, response } = await request.catch(unreachable);
    if (error !== undefined || !response.ok) throw problemIn(response, error);
    return data as NonNullable<typeof data>;
  } catch (error) {
    if (error instanceof Problem) error.isLate = performance.now() - startedAt > LATE_MS;
    throw error;
  }
}

type ReadPath = { [P in keyof paths]: paths[P] extends { get: { parameters: unknown } } ? P : never }[keyof paths];
type ReadParams<P extends ReadPath> = paths[P]["get"]["parameters"];
type Answer<P extends ReadPath> = NonNullable<FetchResponse<paths[P]["get"], object, "application/json">["data"]>;

/**
 * What the API has at a path.
 * @param signal ends the request when nobody waits for it any more
 * @throws Problem as `ask` does
 */
export function read<P extends ReadPath>(
  signal: AbortSignal,
  path: P,
  ...[params]: object extends ReadParams<P> ? [ReadParams<P>?] : [ReadParams<P>]
): Promise<Answer<P>> {
  // The client's own types cannot be followed for a path that is not known yet.
  return ask(api.GET(path as never, { params, signal } as never)) as Promise<never>;
}

/** @throws Problem with status 0, or what stopped the request on purpose */
export function unreachable(error: unknown): never {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "AbortError") throw error;
  if (name === "TimeoutError") throw new Problem(0, "The server did not respond in time. Try again in a moment.");
  throw new Problem(0, "The server cannot be reached. Check your connection and try again.");
}
