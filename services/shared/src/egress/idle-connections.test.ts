import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type RawServer, startRawServer } from "@parley/testkit/network/raw-server";
import { parseAllowList } from "./allow-list.ts";
import { createEgress } from "./egress.ts";
import { meterBodies } from "./meter.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

test("of too many idle connections the oldest of the owner with the most is closed, and another owner's are kept", async () => {
  const egress = createEgress({ allow: parseAllowList("127.0.0.1"), idleMax: 4 });
  const ask = async (url: string, ownerId: string) => {
    const { signal } = new AbortController();
    meterBodies(signal, { ownerId, received: () => {} });
    const answer = await egress.ask(url, { signal });
    while (await answer.read());
  };
  await using stack = new AsyncDisposableStack();
  const servers: RawServer[] = [];
  for (let at = 0; at < 7; at++) servers.push(stack.use(await startRawServer((socket) => socket.write(OK))));
  const [victim, ...others] = servers;
  await ask(victim?.url ?? "", "own_victim");
  for (const { url } of others) await ask(url, "own_hostile");
  const isClosed = () => servers.map(({ connections }) => connections[0]?.isClosed);
  await eventually(() => expect(isClosed()).toEqual([false, true, true, true, false, false, false]));
  for (const { url } of [...others.slice(3), ...servers.slice(0, 1)]) await ask(url, "own_victim");
  expect(servers.map(({ connections }) => connections.length)).toEqual(Array(7).fill(1));
  egress.close();
  await eventually(() => expect(isClosed()).toEqual(Array(7).fill(true)));
});
