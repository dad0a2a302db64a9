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
  expect(begun).toBeLessThanOrEqual(64);
});

test("every request of many connections is answered", async () => {
  await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fewBegin(() => new Response("ok")) });
  const answers = Array.from({ length: 200 }, async () => (await fetch(server.url)).text());
  expect(await Promise.all(answers)).toEqual(Array(200).fill("ok"));
});

test("each turn of the event loop begins at most 64 requests, in the order of their arrival", async () => {
  using requests = requestsByTurn();
  const sent = Array.from({ length: 150 }, (_, at) => requests.send(`first ${at}`));
  await new Promise(setImmediate);
  for (let at = 0; at < 50; at++) sent.push(requests.send(`second ${at}`));
  await Promise.all(sent);
  const begun = requests.turns.filter((turn) => turn.length > 0);
  expect(begun.map((turn) => turn.length)).toEqual([64, 64, 64, 8]);
  const inOrder = [
    ...Array.from({ length: 150 }, (_, at) => `first ${at}`),
    ...Array.from({ length: 50 }, (_, at) => `second ${at}`),
  ];
  expect(begun.flat()).toEqual(inOrder);
});

test("a request does not wait behind all those of another key that arrived before it", async () => {
  using requests = requestsByTurn();
  const sent = Array.from({ length: 300 }, (_, at) => requests.send(`flood ${at}`, undefined, "vk_flood"));
  sent.push(requests.send("other", undefined, "vk_other"));
  await Promise.all(sent);
  expect(requests.turns[1]).toContain("other");
  expect(requests.turns.flat()).toHaveLength(301);
});

test("a waiting request whose client leaves never begins, and takes nobody's turn", async () => {
  using requests = requestsByTurn();
  const gone = new AbortController();
  const sent = Array.from({ length: 64 }, (_, at) => requests.send(`begins ${at}`));
  for (let at = 0; at < 100; at++) sent.push(requests.send(`leaves ${at}`, gone.signal));
  sent.push(requests.send("stays"));
  gone.abort();
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(requests.turns.flat()).toEqual([...Array.from({ length: 64 }, (_, at) => `begins ${at}`), "stays"]);
  expect(requests.turns[1]).toEqual(["stays"]);
  expect(statuses).toEqual([...Array(64).fill(200), ...Array(100).fill(499), 200]);
});

/** The names of the requests that begin in each turn of the event loop, from now on. */
function requestsByTurn() {
  const turns: string[][] = [[]];
  let next: NodeJS.Immediate;
  const startTurn = () => {
    turns.push([]);
    next = setImmediate(startTurn);
  };
  // Before the others' immediates, so that it runs first in each turn.
  next = setImmediate(startTurn);
  const begin = fewBegin(({ url }) => {
    turns.at(-1)?.push(decodeURI(new URL(url).pathname.slice(1)));
    return new Response("ok");
  });
  return {
    turns,
    send: async (name: string, signal?: AbortSignal, key = "") =>
      begin(new Request(`http://test/${name}`, { headers: { "X-API-Key": key }, ...(signal && { signal }) })),
    [Symbol.dispose]: () => clearImmediate(next),
  };
}
