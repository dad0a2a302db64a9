import { parseArgs } from "node:util";
import type { OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { newId } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { cpuUsed } from "../cpu.ts";
import { count, medians, microseconds, milliseconds, table } from "../figures.ts";
import type { Run } from "../run.ts";
import { EVENT, nowMs, sample } from "./event.ts";
import { AT_ONCE, type Field, startField } from "./field.ts";
import type { Arrivals } from "./receiver.ts";

/** Deliveries of one measured round, whatever the number of destinations. */
const DELIVERIES = 8_000;
const ROUNDS = 3;
/** Before the first round. The compiler needs as many: over the first 15,000 deliveries, the dispatcher's CPU per delivery halves. */
const WARM_UP_DELIVERIES = 16_000;
/** At this rate, each event's deliveries still have the machine to themselves. */
const IDLE_EVENTS = 40;
const IDLE_PER_SECOND = 4;
const PACED_SECONDS = 5;
/** The most destinations that an owner may have. */
const OWNED_MAX = 50;
const ARRIVED_WITHIN_MS = 60_000;
/** Events in one call, as the event relay sends them, and concurrent calls. */
const BATCH = 50;
const GIVEN_AT_ONCE = 8;

/**
 * Measures events from BatchAcceptEvents (for the peers: from enqueueing) to their first byte at an HTTPS receiver, where all of them
 * are counted. `--deliveries N` shortens the rounds.
 */
export async function benchWebhooks(run: Run): Promise<void> {
  const { values } = parseArgs({ args: process.argv.slice(3), options: { deliveries: { type: "string" } } });
  const deliveries = Number(values.deliveries ?? DELIVERIES);
  if (!Number.isInteger(deliveries) || deliveries < 1_000) throw new Error("--deliveries must be a number from 1000");
  console.log("starting Parley, the receiver and the contenders");
  const field = await startField(run);
  for (const destinations of [1, 100]) {
    const contenders = await startContenders(field, destinations);
    const [parley] = contenders;
    for (const contender of contenders) await saturate(field, contender, WARM_UP_DELIVERIES);
    // Until then, plans of the empty tables are used: the end of an attempt costs Postgres three times as much.
    await field.stack.analyze();
    const idle = await pace(field, parley, IDLE_PER_SECOND, IDLE_EVENTS);
    const rounds = await interleaved(field, contenders, deliveries);
    const half = (rounds[0]?.perSecond ?? 0) / destinations / 2;
    const loaded = await pace(field, parley, half, Math.ceil(half * PACED_SECONDS));
    const latencies = [
      ["from the accepting call to the first byte", "p50", "p99"],
      [`${IDLE_PER_SECOND} events/s`, milliseconds(idle.p50Us), milliseconds(idle.p99Us)],
      [`${count(half)} events/s`, milliseconds(loaded.p50Us), milliseconds(loaded.p99Us)],
    ];
    console.log(
      `\n${count(deliveries)} deliveries to ${destinations === 1 ? "one destination" : `${destinations} destinations`}`,
    );
    console.log(`${report(contenders, rounds)}\n${table(latencies)}`);
  }
}

interface Contender {
  name: string;
  destinations: number;
  /** Accepts this many events, each for every destination. */
  give(events: number): Promise<unknown>;
  pids: readonly number[];
  /** Returns the processes of the store that holds its deliveries. */
  store(): readonly number[];
}

interface Parley extends Contender {
  /** Accepts this many events in one call. @returns their ids, one for each owner whose destinations receive it */
  accept(events: number): Promise<string[]>;
}

async function startContenders(field: Field, destinations: number): Promise<[Parley, Contender, Contender]> {
  const urls = Array.from({ length: destinations }, (_, at) => field.url(at));
  const owners: string[] = [];
  for (let from = 0; from < destinations; from += OWNED_MAX) {
    owners.push(await field.createOwner(urls.slice(from, from + OWNED_MAX)));
  }
  const accept = async (howMany: number) => {
    const events = owners.flatMap((ownerId) => Array.from({ length: howMany }, () => requestOf(ownerId)));
    const { results } = await field.dispatcher.batchAcceptEvents({ events });
    if (results.some(({ refusal }) => refusal !== undefined)) throw new Error("an event was refused");
    return events.map(({ eventId }) => eventId);
  };
  const peer = { destinations, pids: [field.peerPid] };
  return [
    {
      name: "Parley",
      destinations,
      accept,
      give: (events) => inBatches(events, accept),
      pids: field.stack.pids(["webhook-dispatcher"]),
      store: () => field.stack.pids(["postgres"]),
    },
    {
      ...peer,
      name: "(a) bare loop",
      store: () => [],
      give: (events) => field.loop({ urls, events, atOnce: AT_ONCE }),
    },
    {
      ...peer,
      name: "(b) BullMQ, fsync always",
      store: () => [field.redisPid],
      give: (events) => inBatches(events, (howMany) => field.enqueue(urls, howMany)),
    },
  ];
}

function requestOf(ownerId: string): OwnerEvent {
  const { id: eventId, conversationId, payload } = sample(newId("evt"));
  return { ownerId, eventId, event: EVENT, conversationId, payload };
}

async function inBatches(events: number, give: (howMany: number) => Promise<unknown>): Promise<void> {
  let left = events;
  const one = async () => {
    while (left > 0) {
      const howMany = Math.min(left, BATCH);
      left -= howMany;
      await give(howMany);
    }
  };
  await Promise.all(Array.from({ length: GIVEN_AT_ONCE }, one));
}

/** In the order A B C A B C …, so that other load on the machine affects all alike. */
async function interleaved(field: Field, contenders: readonly Contender[], deliveries: number): Promise<Saturated[]> {
  const rounds = contenders.map((): Saturated[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, contender] of contenders.entries()) rounds[at]?.push(await saturate(field, contender, deliveries));
  }
  return rounds.map(medians);
}

/** `giverUs` is the CPU of this process until everything is accepted or enqueued, which is part of what each contender costs. */
type Saturated = Record<"perSecond" | "giverUs" | "cpuUs" | "storeUs" | "repeats", number>;

/** At full speed, from the first event accepted to the last delivery's arrival. */
async function saturate(field: Field, contender: Contender, deliveries: number): Promise<Saturated> {
  const events = Math.ceil(deliveries / contender.destinations);
  const expected = events * contender.destinations;
  const used = () => [contender.pids, contender.store()].map(cpuUsed);
  await field.forget();
  const [ownBefore = 0, storeBefore = 0] = used();
  const giving = process.cpuUsage();
  const startedMs = nowMs();
  await contender.give(events);
  const { user, system } = process.cpuUsage(giving);
  const arrived = await allArrived(field, contender.name, expected);
  const [own = 0, store = 0] = used();
  const lastMs = arrived.reduce((last, [, atMs]) => Math.max(last, atMs), 0);
  return {
    perSecond: (expected * 1000) / (lastMs - startedMs),
    giverUs: (user + system) / expected,
    cpuUs: (own - ownBefore) / expected,
    storeUs: (store - storeBefore) / expected,
    repeats: arrived.reduce((sum, [, , times]) => sum + times - 1, 0),
  };
}

/** At this many events a second. @returns the duration of each delivery */
async function pace(
  field: Field,
  parley: Parley,
  perSecond: number,
  events: number,
): Promise<Record<"p50Us" | "p99Us", number>> {
  await field.forget();
  const givenMs = new Map<string, number>();
  const startedMs = nowMs();
  const giving: Promise<void>[] = [];
  for (let at = 0; at < events; at++) {
    const waitMs = startedMs + (at * 1000) / perSecond - nowMs();
    if (waitMs > 1) await Bun.sleep(waitMs);
    const atMs = nowMs();
    // While its queue is full, the dispatcher refuses events, and the relay sends them again; the wait is part of the time.
    giving.push(
      eventually(() => parley.accept(1), ARRIVED_WITHIN_MS).then((ids) => {
        for (const id of ids) givenMs.set(id, atMs);
      }),
    );
  }
  await Promise.all(giving);
  const arrived = await allArrived(field, parley.name, events * parley.destinations);
  const tookUs = arrived
    .map(([delivery, atMs]) => (atMs - (givenMs.get(delivery.split(" ")[1] ?? "") ?? Number.NaN)) * 1000)
    .toSorted((a, b) => a - b);
  const quantile = (part: number) => tookUs[Math.floor(tookUs.length * part)] ?? Number.NaN;
  return { p50Us: quantile(0.5), p99Us: quantile(0.99) };
}

/** @throws when a delivery is missing at the end */
async function allArrived(field: Field, name: string, expected: number): Promise<Arrivals> {
  const deadline = nowMs() + ARRIVED_WITHIN_MS;
  while ((await field.count()) < expected && nowMs() < deadline) await Bun.sleep(20);
  const arrived = await field.arrivals();
  if (arrived.length !== expected) throw new Error(`${name}: ${arrived.length} of ${expected} deliveries arrived`);
  return arrived;
}

function report(contenders: readonly Contender[], rounds: readonly Saturated[]): string {
  const parley = rounds[0]?.perSecond ?? 0;
  const rows = rounds.map(({ perSecond, giverUs, cpuUs, storeUs, repeats }, at) => [
    contenders[at]?.name ?? "",
    count(perSecond),
    microseconds(giverUs),
    microseconds(cpuUs),
    microseconds(storeUs),
    microseconds(giverUs + cpuUs + storeUs),
    count(repeats),
    at === 0 ? "" : (parley / perSecond).toFixed(2),
  ]);
  return table([
    ["", "deliveries/s", "CPU to enqueue", "to deliver", "its store", "sum", "repeats", "Parley is ×"],
    ...rows,
  ]);
}
