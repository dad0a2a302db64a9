import type { BenchStack } from "../stack.ts";

/** A client of the public API that throws at any refusal. */
export type Api = <T>(method: "GET" | "POST" | "PATCH", path: string, body?: object) => Promise<T>;

export function apiOf({ url, apiKey }: Pick<BenchStack, "url" | "apiKey">): Api {
  return async <T>(method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/v1/public${path}`, {
      method,
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}
