import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ListDeliveriesRequest } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { createAuthority, createCertificate } from "@parley/testkit/tls/certificates";
import {
  acceptEvent,
  DELIVERED,
  type DispatcherClient,
  dispatcherClient,
  ended,
  FAILED,
  newDestination,
  newEvent,
  TEST_ENV,
} from "./kit.ts";
import { startReceiver } from "./receiver.ts";

let database: TestDatabase;
const folder = await mkdtemp(join(tmpdir(), "parley-webhooks-"));
afterAll(() => rm(folder, { recursive: true }));

// The processes that a test has started; nothing else delivers here.
let running: TestProcess[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const process of running) await process.stop("SIGKILL");
  running = [];
  await database.drop();
});

interface TestProcess {
  client: DispatcherClient;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The service as a process of its own, on the test's database. */
async function startProcess(env: Record<string, string> = {}): Promise<TestProcess> {
  const service = await startServiceProcess("webhook-dispatcher", {
    DATABASE_URL: database.urls.webhook,
    ...TEST_ENV,
    ...env,
  });
  const client = dispatcherClient(service.address);
  const process = {
    client,
    output: () => service.output,
    stop: (signal?: NodeJS.Signals) => {
      client.close();
      return service.stop(signal);
    },
  };
  running.push(process);
  return process;
}

function acceptMany(clients: readonly DispatcherClient[], ownerId: string, count: number) {
  return Promise.all(
    Array.from({ length: count }, (_, at) =>
      acceptEvent(clients[at % clients.length] as DispatcherClient, newEvent(ownerId)),
    ),
  );
}

const DELIVERED_WITHIN_MS = 60_000;

test("a replica that starts later gets its share of busy destinations, and no attempt is sent twice", async () => {
  await using receiver = startReceiver();
  receiver.answer = async () => {
    await Bun.sleep(500);
    return new Response("ok");
  };
  const turns = { PARLEY_WEBHOOK_TURN_MS: "200" };
  const one = await startProcess(turns);
  const ownerId = newOwner();
  const names = Array.from({ length: 5 }, (_, at) => `${receiver.url}/${at}`);
  await Promise.all(names.map((url) => newDestination(one.client, url, { ownerId })));
  let accepted = 0;
  let isOver = false;
  /** Always more for each destination than the attempts that it may have in progress. */
  const flow = async () => {
    while (!isOver) {
      if (accepted - receiver.received.length / names.length > 80) await Bun.sleep(5);
      else accepted += (await acceptMany([one.client], ownerId, 20)).length;
    }
  };
  const flowing = flow();
  const delivers = ({ output }: TestProcess) =>
    eventually(() => expect(output().includes("webhook attempt")).toBeTrue());
  try {
    await delivers(one);
    await delivers(await startProcess(turns));
  } finally {
    isOver = true;
    receiver.answer = () => new Response("ok");
    await flowing;
  }
  const deliveries = accepted * names.length;
  await eventually(async () => {
    const request = { ...ListDeliveriesRequest.fromPartial({ ownerId, status: DELIVERED }) };
    expect((await one.client.listDeliveries(request)).total).toBe(deliveries);
  }, DELIVERED_WITHIN_MS);
  const sent = receiver.received.map(({ target, headers }) => `${target} ${headers["webhook-id"]}`);
  expect(sent).toHaveLength(deliveries);
  expect(new Set(sent).size).toBe(deliveries);
});

test("another process delivers what a killed one was sending when its lease ends", async () => {
  await using receiver = startReceiver();
  const process = await startProcess({ PARLEY_WEBHOOK_LEASE_MS: "600" });
  const silence = Promise.withResolvers<Response>();
  receiver.answer = () => silence.promise;
  const { ownerId } = await newDestination(process.client, receiver.url);
  await acceptEvent(process.client, newEvent(ownerId));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await process.stop("SIGKILL");
  receiver.answer = () => new Response("ok");
  const [delivery] = await ended((await startProcess()).client, ownerId);
  expect(delivery).toMatchObject({ status: DELIVERED, attempts: [{ number: 1 }] });
  silence.resolve(new Response("late"));
});

test("a stopping process settles its running attempts and leaves the rest to others", async () => {
  await using receiver = startReceiver();
  const process = await startProcess();
  const answers = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await answers.promise;
    return new Response("ok");
  };
  const { ownerId } = await newDestination(process.client, receiver.url);
  await acceptMany([process.client], ownerId, 80);
  await eventually(() => expect(receiver.received).toHaveLength(32));
  const stopped = process.stop();
  await eventually(() => expect(process.output()).toContain('"stopping"'));
  answers.resolve();
  expect(await stopped).toBe(0);
  const deliveries = await ended((await startProcess()).client, ownerId, 80);
  expect(deliveries.every(({ status, attempts }) => status === DELIVERED && attempts.length === 1)).toBeTrue();
  expect(receiver.received).toHaveLength(80);
});

test("a certificate for another host fails the attempts; one of a trusted authority does not", async () => {
  const authority = await createAuthority("test");
  await Bun.write(join(folder, "ca.pem"), authority.cert);
  const received: string[] = [];
  const serve = async (name: string) => {
    const { cert, key } = await createCertificate(authority, name);
    return Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert, key },
      fetch: (request) => {
        received.push(request.headers.get("webhook-id") ?? "");
        return new Response("ok");
      },
    });
  };
  const server = await serve("hooks.example.test");
  const process = await startProcess({
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.0/8",
  });
  try {
    const right = await newDestination(process.client, `https://127.0.0.1:${server.port}/`);
    const wrong = await newDestination(process.client, `https://127.0.0.2:${server.port}/`);
    await Promise.all([right, wrong].map(({ ownerId }) => acceptEvent(process.client, newEvent(ownerId))));
    expect(await ended(process.client, right.ownerId)).toMatchObject([{ status: DELIVERED }]);
    expect(await ended(process.client, wrong.ownerId)).toMatchObject([{ status: FAILED }]);
    expect(received).toHaveLength(1);
  } finally {
    server.stop(true);
  }
});

test("a process logs one line per attempt, and never a secret or a payload", async () => {
  await using receiver = startReceiver();
  const process = await startProcess();
  const { ownerId, destinationId, secret } = await newDestination(process.client, receiver.url);
  await acceptEvent(process.client, newEvent(ownerId, { payload: '{"notes":"confidential"}' }));
  const line = await eventually(() => {
    const found = process
      .output()
      .split("\n")
      .find((each) => each.includes("webhook attempt"));
    if (!found) throw new Error("no attempt was logged");
    return JSON.parse(found);
  });
  expect(line).toMatchObject({ owner_id: ownerId, destination_id: destinationId, attempt: 1, http_status: 200 });
  expect(await process.stop()).toBe(0);
  expect(process.output()).not.toContain(secret);
  expect(process.output()).not.toContain("confidential");
});
