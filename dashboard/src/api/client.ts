import createClient, { type FetchResponse } from "openapi-fetch";
import "../first/requests.ts";
import type { components, paths } from "./gen/schema.ts";
import { Problem, problemIn } from "./problem.ts";

/** The schemas of the OpenAPI document by their names, such as `Schema["Agent"]`. */
export type Schema = components["schemas"];

/** The API that customers use, with the session's cookie. Paths and bodies are checked against its document. */
export const api = createClient<paths>({
  // A page is also rendered where there is no address, and sends nothing.
  baseUrl: globalThis.location?.origin ?? "http://localhost",
  fetch: (request) => (request.method === "GET" && globalThis.parleyEarly?.(request.url)) || fetch(request),
});

/**
 * The body of a response.
 * @throws Problem with the API's detail, or status 0 when the gateway cannot be reached
 */
export async function ask<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  request: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>["data"]>> {
  const { data, error, response } = await request.catch(unreachable);
  if (error !== undefined || !response.ok) throw problemIn(response, error);
  return data as NonNullable<typeof data>;
}

/** @throws Problem with status 0, or what stopped the request on purpose */
export function unreachable(error: unknown): never {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  throw new Problem(0, "The server cannot be reached. Check your connection and try again.");
}
