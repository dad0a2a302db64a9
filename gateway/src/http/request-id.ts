const GIVEN = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the client's request id if it has 1 to 128 allowed characters, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && GIVEN.test(given) ? given : Bun.randomUUIDv7();
}

/** The headers of every response: its id, and the ban on content sniffing. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { "X-Request-ID": requestId, "X-Content-Type-Options": "nosniff" };
}

/** Adds the headers on routes outside the gate, after their handlers. */
export function addCommonHeaders({ request, responseValue }: { request: Request; responseValue: unknown }): void {
  if (!(responseValue instanceof Response)) return;
  for (const [name, value] of Object.entries(commonHeaders(requestIdOf(request))))
    responseValue.headers.set(name, value);
}
