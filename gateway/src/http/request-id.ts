const GIVEN = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client's own request id where it is well formed, else a new one (decisions.md: HTTP conventions). */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && GIVEN.test(given) ? given : Bun.randomUUIDv7();
}
