import { join } from "node:path";
import { startChild, stopChild } from "@parley/dev/processes/child.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { pingRedis, redisUrl } from "@parley/dev/storage/redis.ts";
import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { newId } from "@parley/shared/ids";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import { createAuthority, createCertificate } from "@parley/testkit/tls/certificates";
import { Queue } from "bullmq";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { EVENT, sample } from "./event.ts";
import { type LoopJob, QUEUE } from "./peer.ts";
import type { Arrivals } from "./receiver.ts";

/** Concurrent attempts to one destination for every contender, the dispatcher's own limit. */
export const AT_ONCE = 32;
const READY_MS = 20_000;

export interface Field {
  stack: BenchStack;
  dispatcher: ServiceClient<typeof WebhookDispatcherServiceService>;
  /** The URL of destination number `at`. */
  url(at: number): string;
  /** Creates an owner with destinations at these URLs. */
  createOwner(urls: readonly string[]): Promise<string>;
  loop(job: LoopJob): Promise<void>;
  /** Enqueues this many events, each for every URL. */
  enqueue(urls: readonly string[], events: number): Promise<void>;
  peerPid: number;
  /** Of the Redis that holds BullMQ's jobs. */
  redisPid: number;
  count(): Promise<number>;
  arrivals(): Promise<Arrivals>;
  forget(): Promise<void>;
}

/** Starts Parley, an HTTPS receiver, and the contenders with their own Redis, which loses nothing. */
export async function startField(run: Run): Promise<Field> {
  const [port = 0, controlPort = 0, peerPort = 0, redisPort = 0] = await freePorts(4);
  const tls = await writeCertificate(run);
  const origin = `https://127.0.0.1:${port}`;
  run.start("webhooks/receiver.ts", {
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
    BENCH_CERT: tls.cert,
    BENCH_KEY: tls.key,
  });
  const trusting = { NODE_EXTRA_CA_CERTS: tls.ca };
  const stack = await startBenchStack(run, { ...trusting, PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" });
  const redisPid = await startRedis(run, redisPort);
  const peerPid = run.start("webhooks/peer.ts", {
    ...trusting,
    PORT: String(peerPort),
    BENCH_REDIS_PORT: String(redisPort),
    BENCH_AT_ONCE: String(AT_ONCE),
  });
  const queue = new Queue(QUEUE, { connection: { host: "127.0.0.1", port: redisPort } });
  const dispatcher = createClient(WebhookDispatcherServiceService, {
    peer: "webhook-dispatcher",
    address: stack.address("webhook-dispatcher"),
    timeoutMs: 30_000,
  });
  run.onEnd(async () => {
    dispatcher.close();
    await queue.close();
  });
  const control = `http://127.0.0.1:${controlPort}`;
  const url = (at: number) => `${origin}/${at}`;
  const field: Field = {
    stack,
    dispatcher,
    url,
    peerPid,
    redisPid,
    createOwner: async (urls) => {
      const ownerId = newId("own");
      const destination = { ownerId, name: "bench", requestType: RequestType.REQUEST_TYPE_POST, enabled: true };
      for (const at of urls) await dispatcher.createDestination({ ...destination, url: at });
      return ownerId;
    },
    loop: async (job) => {
      const response = await fetch(`http://127.0.0.1:${peerPort}`, { method: "POST", body: JSON.stringify(job) });
      if (!response.ok) throw new Error(await response.text());
    },
    enqueue: async (urls, events) => {
      const given = Array.from({ length: events }, () => sample(newId("evt")));
      await queue.addBulk(
        given.flatMap((each) => urls.map((to) => ({ name: EVENT, data: { url: to, sample: each } }))),
      );
    },
    count: async () => (await (await fetch(`${control}/count`)).json()) as number,
    arrivals: async () => (await (await fetch(control)).json()) as Arrivals,
    forget: async () => void (await fetch(control, { method: "DELETE" })),
  };
  await eventually(() => field.forget(), READY_MS);
  await eventually(() => field.loop({ urls: [url(0)], events: 1, atOnce: 1 }), READY_MS);
  await field.enqueue([url(0)], 1);
  await eventually(async () => {
    if ((await field.count()) !== 2) throw new Error("The contenders do not send");
  }, READY_MS);
  return field;
}

async function writeCertificate(run: Run): Promise<Record<"ca" | "cert" | "key", string>> {
  const authority = await createAuthority("bench");
  const { cert, key } = await createCertificate(authority, "localhost");
  const files = {
    ca: join(run.folder, "ca.pem"),
    cert: join(run.folder, "cert.pem"),
    key: join(run.folder, "key.pem"),
  };
  await Promise.all([Bun.write(files.ca, authority.cert), Bun.write(files.cert, cert), Bun.write(files.key, key)]);
  return files;
}

/** As durable as Parley's Postgres: every write is on disk before its response. @returns its pid */
async function startRedis(run: Run, port: number): Promise<number> {
  const server = await obtain("redis");
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir", run.folder];
  const child = startChild({
    args: [server, "--port", String(port), "--bind", "127.0.0.1", ...durable],
    log: join(run.folder, "durable-redis.log"),
    stopSignal: "SIGTERM",
  });
  run.onEnd(() => stopChild(child, "SIGTERM", 5_000));
  await eventually(() => pingRedis(redisUrl(port)), READY_MS);
  return child.pid;
}
