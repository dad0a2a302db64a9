import { expect, test } from "bun:test";
import { connect } from "node:net";
import { fewBegin } from "../src/http/few-begin.ts";

const GET = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";

test("of thousands of requests that a connection sends at once few begin, and the connection closes", async () => {
  let begun = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: fewBegin(() => {
      begun++;
      return new Response("ok");
    }),
  });
  const client = connect(server.port ?? 0, "127.0.0.1");
  const closed = Promise.withResolvers<void>();
  client.on("error", () => {});
  client.on("close", () => closed.resolve());
  client.resume();
  client.write(GET.repeat(5_000));
  await closed.promise;
  expect(begun).toBeGreaterThan(0);
  expect(begun).toBeLessThanOrEqual(65);
});

test("every request of many connections is answered", async () => {
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fewBegin(() => new Response("ok")) });
  const answers = Array.from({ length: 200 }, async () => (await fetch(server.url)).text());
  expect(await Promise.all(answers)).toEqual(Array(200).fill("ok"));
});
