import { test } from "bun:test";
import { type Names, startNames } from "./fixtures/names.ts";
import type { Served } from "./fixtures/serve-test.ts";
import { TestService } from "./fixtures/test-service.ts";

// grpc-js has two resolvers, chosen when it is loaded. Only this one can use a test's own name server.
process.env.GRPC_NODE_USE_ALTERNATIVE_RESOLVER = "true";
const { createClient } = await import("../src/rpc/client.ts");
const { serveTest } = await import("./fixtures/serve-test.ts");

/** Replicas of one service, each with an address of its own and all with one port, like pods. */
async function startReplicas(hosts: readonly string[]) {
  const calls = new Map<string, number>();
  const running = new Map<string, Served>();
  let port = "0";
  const start = async (host: string) => {
    const once = async (request: Record<string, unknown>) => {
      calls.set(host, (calls.get(host) ?? 0) + 1);
      return request;
    };
    const served = await serveTest({ once }, { address: `${host}:${port}` });
    port = served.address.split(":")[1] ?? "";
    running.set(host, served);
  };
  for (const host of hosts) await start(host);
  return {
    start,
    stop: async (host: string) => running.get(host)?.stop(),
    clientOf: (names: Names) => {
      const client = createClient(TestService, { peer: "test", address: names.addressOf(`agent.test:${port}`) });
      return {
        /** Makes one call after the other until this replica has served some. @throws when one of them fails */
        async callUntilServedBy(host: string): Promise<void> {
          for (const end = (calls.get(host) ?? 0) + 10; (calls.get(host) ?? 0) < end; await Bun.sleep(20))
            await client.once({});
        },
        [Symbol.dispose]: () => client.close(),
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const served of running.values()) await served[Symbol.asyncDispose]();
    },
  };
}

test("a new replica gets calls of existing clients soon after its name resolves to it", async () => {
  await using replicas = await startReplicas(["127.0.0.1", "127.0.0.2"]);
  await using names = await startNames(["127.0.0.1", "127.0.0.2"]);
  using client = replicas.clientOf(names);
  await client.callUntilServedBy("127.0.0.1");
  await client.callUntilServedBy("127.0.0.2");
  await replicas.start("127.0.0.3");
  names.answers(["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
  await client.callUntilServedBy("127.0.0.3");
});

test("no call fails while each replica is replaced by one at another address", async () => {
  await using replicas = await startReplicas(["127.0.0.1", "127.0.0.2"]);
  await using names = await startNames(["127.0.0.1", "127.0.0.2"]);
  using client = replicas.clientOf(names);
  await client.callUntilServedBy("127.0.0.2");
  for (const [old, kept, fresh] of [
    ["127.0.0.1", "127.0.0.2", "127.0.0.3"],
    ["127.0.0.2", "127.0.0.3", "127.0.0.4"],
  ] as const) {
    await replicas.start(fresh);
    names.answers([kept, fresh]);
    await replicas.stop(old);
    await client.callUntilServedBy(fresh);
  }
});
