import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { DeliveryStatus, RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import { newId, newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import { eventually } from "@parley/testkit/eventually";
import { BESIDES_CHATS, startTestStack } from "../kit/stack/test-stack.ts";

/** The long run, which does not need the test command: PARLEY_FAULT_EVENTS=10000 PARLEY_FAULT_KILLS=20 bun test <this file>. */
const EVENTS = Number(process.env.PARLEY_FAULT_EVENTS ?? 500);
const KILLS = Number(process.env.PARLEY_FAULT_KILLS ?? 6);
const WITHIN_MS = 60_000 + EVENTS * 20 + KILLS * 10_000;

const GIVEN_AT_ONCE = 16;
const PATHS = ["/a", "/b"];
const VICTIMS = ["webhook-dispatcher", "postgres", "receiver"] as const;
/** How long a request may be in progress before it is in the receiver's file. */
const UNDER_WAY_MS = 2_000;

let port: number;
const folder = await mkdtemp(join(tmpdir(), "parley-webhook-faults-"));
[port = 0] = await freePorts(1);
const env = {
  PARLEY_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}`,
  PARLEY_WEBHOOK_RETRY_MS: "500",
  PARLEY_WEBHOOK_LEASE_MS: "2000",
};
const stack = await startTestStack({
  env,
  postgres: "embedded",
  without: [...BESIDES_CHATS, "gateway", "agent", "prompt", "conversation"],
});
const address = stack.address("webhook-dispatcher");
const dispatcher = createClient(WebhookDispatcherServiceService, { peer: "webhook-dispatcher", address });
let receiver: Bun.Subprocess = startReceiver();
afterAll(async () => {
  dispatcher.close();
  receiver?.kill("SIGKILL");
  await stack.stop();
  await rm(folder, { recursive: true });
});

function startReceiver(): Bun.Subprocess {
  return Bun.spawn([process.execPath, join(import.meta.dir, "../kit/webhook-receiver.ts")], {
    env: { PATH: process.env.PATH, PORT: String(port), RECEIVED: join(folder, "received") },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function kill(victim: (typeof VICTIMS)[number]): Promise<unknown> {
  if (victim !== "receiver") return stack.kill(victim).back;
  receiver.kill("SIGKILL");
  await receiver.exited;
  receiver = startReceiver();
}

/** Like the relay: repeats until the event is accepted. */
async function give(ownerId: string): Promise<string> {
  const conversationId = newUuid();
  const event = "conversation.completed";
  const payload = JSON.stringify({ event, conversation_id: conversationId });
  const request = { ownerId, eventId: newId("evt"), event, conversationId, payload };
  await eventually(() => dispatcher.batchAcceptEvents({ events: [request] }), WITHIN_MS);
  return request.eventId;
}

/** When each delivery arrived, by path and event. */
async function arrivals(): Promise<Map<string, number[]>> {
  const lines = (await Bun.file(join(folder, "received")).text()).trim().split("\n");
  const parts = lines.map((line) => line.split(" "));
  const byDelivery = Map.groupBy(parts, ([path, eventId]) => `${path} ${eventId}`);
  return new Map([...byDelivery].map(([delivery, each]) => [delivery, each.map(([, , atMs]) => Number(atMs))]));
}

test(
  "while dispatcher, Postgres and receiver are killed, every event arrives or shows four attempts, twice only for a kill",
  async () => {
    const ownerId = newId("own");
    const destinations = new Map<string, string>();
    for (const path of PATHS) {
      const url = `http://127.0.0.1:${port}${path}`;
      const requestType = RequestType.REQUEST_TYPE_POST;
      const made = await dispatcher.createDestination({ ownerId, name: path, url, requestType, enabled: true });
      destinations.set(made.destination?.destinationId ?? "", path);
    }

    const given: string[] = [];
    let left = EVENTS;
    const giving = Promise.all(
      Array.from({ length: GIVEN_AT_ONCE }, async () => {
        while (left-- > 0) given.push(await give(ownerId));
      }),
    );
    const outages: { fromMs: number; untilMs: number }[] = [];
    for (let at = 1; at <= KILLS; at++) {
      await eventually(() => expect(given.length).toBeGreaterThanOrEqual((EVENTS * at) / (KILLS + 1)), WITHIN_MS);
      const fromMs = Date.now();
      await kill(VICTIMS[(at + Math.floor(Math.random() * 2)) % VICTIMS.length] ?? "receiver");
      outages.push({ fromMs, untilMs: Date.now() });
    }
    await giving;

    const page = { number: 1, size: 1 };
    const pending = DeliveryStatus.DELIVERY_STATUS_PENDING;
    await eventually(async () => {
      const filter = { ownerId, page, status: pending, destinationId: "", conversationId: "" };
      expect((await dispatcher.listDeliveries(filter)).total).toBe(0);
    }, WITHIN_MS);

    const arrived = await arrivals();
    const sql = connectPostgres(stack.databaseUrls.webhook, { max: 1 });
    const rows = await sql<{ destination_id: string; event_id: string; status: string; logged: number }[]>`
      select destination_id, event_id, status, count(attempts.number)::integer as logged
      from deliveries left join attempts using (owner_id, delivery_id)
      where owner_id = ${ownerId} group by owner_id, delivery_id`;
    await sql.end();
    expect(rows).toHaveLength(EVENTS * PATHS.length);
    expect(new Set(rows.map((row) => row.event_id))).toEqual(new Set(given));
    const arrivedOf = (row: (typeof rows)[number]) =>
      arrived.get(`${destinations.get(row.destination_id)} ${row.event_id}`) ?? [];
    const lost = rows.filter((row) => arrivedOf(row).length === 0 && !(row.status === "failed" && row.logged === 4));
    expect(lost).toEqual([]);

    const repeats = rows.flatMap((row) =>
      arrivedOf(row)
        .slice(1)
        .map((atMs, before) => [arrivedOf(row)[before] ?? 0, atMs] as const),
    );
    // What is sent while Postgres is down is not stored.
    const unexplained = repeats.filter(
      ([firstMs, againMs]) =>
        !outages.some(({ fromMs, untilMs }) => untilMs > firstMs - UNDER_WAY_MS && fromMs < againMs),
    );
    const failed = rows.filter(({ status }) => status === "failed").length;
    console.log(
      `${rows.length} deliveries, ${KILLS} kills: ${failed} failed after 4 attempts, ${repeats.length} repeats`,
    );
    expect(unexplained).toEqual([]);
  },
  WITHIN_MS * 3,
);
