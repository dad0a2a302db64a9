import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { createHttpClient } from "@parley/testkit/network/http-client";
import { createDrain } from "../src/drain.ts";

/** Longer than a test may take. */
const NEVER_MS = 600_000;

/** A server that answers at once, except on `/stream`, where it says "one " and continues when told. @param port one to share */
function startServer(limitMs: number, port = 0) {
  const drain = createDrain(limitMs);
  const gate = Promise.withResolvers<void>();
  async function* words() {
    yield "one ";
    await gate.promise;
    yield "two";
  }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    reusePort: true,
    fetch: drain.serving((request) => new Response(request.url.endsWith("/stream") ? words() : "at once")),
  });
  return { url: server.url.href, port: server.port, goOn: gate.resolve, drain: () => drain.run(server) };
}

test("when one of two servers on a port drains, no request fails, on kept or new connections", async () => {
  const first = startServer(NEVER_MS);
  const second = startServer(NEVER_MS, first.port);
  const clients = Array.from({ length: 16 }, () => createHttpClient(first.url));
  let isDrained = false;
  const asking = clients.map(async (client) => {
    let told = 0;
    while (!isDrained) {
      const { status, headers, body } = await client.request("GET", "/");
      expect({ status, body }).toEqual({ status: 200, body: "at once" });
      if (headers.get("connection") === "close") told++;
    }
    // No connection was lost: the client opened a new one only when the server told it to.
    expect(client.connections).toBeLessThanOrEqual(told + 1);
    return told;
  });
  await first.drain();
  isDrained = true;
  const told = await Promise.all(asking);
  expect(told.some((times) => times > 0)).toBe(true);
  for (const client of clients) client.close();
  await second.drain();
});

test("a reply that is streaming ends complete, and the next request on its connection is answered", async () => {
  const server = startServer(NEVER_MS);
  const client = createHttpClient(server.url);
  const begun = Promise.withResolvers<void>();
  const streamed = client.request("GET", "/stream", { onHead: begun.resolve });
  await begun.promise;
  const drained = server.drain();
  const other = createHttpClient(server.url);
  await eventually(async () => expect((await other.request("GET", "/")).headers.get("connection")).toBe("close"));
  server.goOn();
  const reply = await streamed;
  expect({ body: reply.body, connection: reply.headers.get("connection") }).toEqual({
    body: "one two",
    connection: null,
  });
  const next = await client.request("GET", "/");
  expect({ body: next.body, connection: next.headers.get("connection") }).toEqual({
    body: "at once",
    connection: "close",
  });
  expect(client.connections).toBe(1);
  await drained;
});

test("a reply that exceeds the limit is cut off and never looks complete", async () => {
  const server = startServer(200);
  const client = createHttpClient(server.url);
  const begun = Promise.withResolvers<void>();
  const streamed = client.request("GET", "/stream", { onHead: begun.resolve }).catch((error: Error) => error.message);
  await begun.promise;
  await server.drain();
  expect(await streamed).toContain("closed after");
});
