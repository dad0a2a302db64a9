const GIVEN = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client's own request id where it is well formed, else a new one (decisions.md: HTTP conventions). */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && GIVEN.test(given) ? given : Bun.randomUUIDv7();
}

/** For routes outside the gate, after their handlers: every response tells the id. */
export function tellRequestId({ request, responseValue }: { request: Request; responseValue: unknown }): void {
  if (responseValue instanceof Response) responseValue.headers.set("X-Request-ID", requestIdOf(request));
}
