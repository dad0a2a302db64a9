import { afterAll, beforeEach, expect, test } from "bun:test";
import { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import type { ListTrunkRegistrationsResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { nameOf, REGISTRATION_STATES } from "@parley/shared/domain/api-names";
import { EgressError } from "@parley/shared/egress/error";
import { notFound } from "@parley/shared/errors";
import type { Job } from "@parley/shared/jobs/store";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { listTrunkRegistrations } from "../src/rpc/list-trunk-registrations.ts";
import { countUnregistered } from "../src/store/trunk-registrations.ts";
import type { Registration, RegistrationAnswer } from "../src/transport/sip/registering.ts";
import { trunkRegistrations } from "../src/trunks/registrations.ts";

const TRUNK = { host: "trunk.example:5080", username: "acme", password: "of-the-trunk", transport: "TLS" };
const QUEUE = "register-trunk";

const clock = fakeClock();
const trunks = new Map<string, { ownerId: string; settings: Partial<CarrierSettings> }>();
const asked: Registration[] = [];
/** The trunks' answers; null: they register whoever asks. */
let refusal: RegistrationAnswer | EgressError | null = null;

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});
beforeEach(async () => {
  await db`delete from jobs`;
  trunks.clear();
  asked.length = 0;
  refusal = null;
});

/** One process; its contact is its name. */
function voiceProcess(name: string) {
  return trunkRegistrations({
    db,
    clock,
    accounts: {
      listTrunks: async ({ afterCarrierId }) => ({
        carriers: [...trunks]
          .map(([carrierId, { ownerId }]) => ({
            ownerId,
            carrierId,
            provider: "SIP",
            settings: undefined,
            createdAt: undefined,
          }))
          .filter(({ carrierId }) => carrierId > afterCarrierId)
          .toSorted((a, b) => (a.carrierId < b.carrierId ? -1 : 1))
          .slice(0, 2),
      }),
      getCarrierCredentials: async ({ ownerId, carrierId }) => {
        const trunk = trunks.get(carrierId);
        if (trunk?.ownerId !== ownerId) throw notFound("Carrier");
        const settings = CarrierSettings.fromPartial(trunk.settings);
        return { carrier: { ownerId, carrierId, provider: "SIP", settings, createdAt: undefined } };
      },
    },
    register: async (registration) => {
      asked.push(registration);
      if (refusal instanceof Error) throw new Error("The trunk should not have been asked");
      return refusal ?? { registered: { contact: `sip:parley@${name}`, seconds: 120 } };
    },
    serverOf: async (host, protocol) => {
      if (refusal instanceof Error) throw refusal;
      return { protocol, address: "192.0.2.1", port: 5080, host };
    },
  });
}

function connect(carrierId: string, settings: Partial<CarrierSettings> = TRUNK) {
  const ownerId = newOwner();
  trunks.set(carrierId, { ownerId, settings });
  return { ownerId, carrierId };
}

type Process = ReturnType<typeof voiceProcess>;

const find = (process: Process) => process.sweeps[0]?.run(clock.now(), new AbortController().signal);
const waiting = () =>
  db<{ ownerId: string; jobId: string; dueAt: Date }[]>`select owner_id, job_id, due_at from jobs order by job_id`;
const registerOnce = (process: Process, { ownerId, carrierId }: { ownerId: string; carrierId: string }) =>
  process.queues[QUEUE]?.run({ ownerId, payload: { carrierId } } as Job, new AbortController().signal);

test("every trunk gets one job, however often it is found", async () => {
  const keys = ["car_1", "car_2", "car_3"].map((carrierId) => connect(carrierId));
  const process = voiceProcess("one");
  await find(process);
  await find(voiceProcess("other"));
  expect(await waiting()).toMatchObject(
    keys.map(({ ownerId, carrierId }) => ({ ownerId, jobId: `register:${carrierId}` })),
  );
});

test("a trunk is registered with its credentials again and again, and each process takes over from the previous one", async () => {
  const key = connect("car_1");
  const [one, other] = [voiceProcess("one"), voiceProcess("other")];
  expect(await registerOnce(one, key)).toEqual(new Date(clock.now().getTime() + 60_000));
  await registerOnce(other, key);
  expect(asked).toMatchObject([
    {
      uri: "sip:trunk.example",
      addressOfRecord: "sip:acme@trunk.example",
      server: { protocol: "TLS", host: "trunk.example:5080" },
      credentials: { username: "acme", password: "of-the-trunk" },
      former: null,
    },
    { former: "sip:parley@one" },
  ]);
});

test("a trunk that refuses is retried less and less often, and the reason is logged", async () => {
  const key = connect("car_1");
  const process = voiceProcess("one");
  refusal = { refused: 403, reason: "Forbidden" };
  await expect(registerOnce(process, key)).rejects.toThrow("No registration with the SIP trunk: 403 Forbidden");
  const { retryDelayMs } = process.queues[QUEUE] ?? {};
  expect([1, 2, 3, 100].map((attempts) => retryDelayMs?.(attempts))).toEqual([5_000, 10_000, 20_000, 300_000]);
});

test("a trunk that was disconnected, or whose calls come from listed addresses, is not registered with", async () => {
  const key = connect("car_1");
  const process = voiceProcess("one");
  await registerOnce(process, key);
  trunks.set("car_1", { ...key, settings: { ...TRUNK, allowedAddresses: ["192.0.2.1"] } });
  expect(await registerOnce(process, key)).toBeUndefined();
  trunks.clear();
  expect(await registerOnce(process, key)).toBeUndefined();
  expect(asked).toHaveLength(1);
});

test("a stopping process releases its own trunks to others immediately, and no others", async () => {
  const [ours, theirs] = [connect("car_1"), connect("car_2")];
  const [one, other] = [voiceProcess("one"), voiceProcess("other")];
  await registerOnce(one, ours);
  await registerOnce(other, theirs);
  await one.handOver();
  expect(await waiting()).toMatchObject([{ jobId: "register:car_1", dueAt: clock.now() }]);
});

/** An owner's view of its only trunk. */
async function shown(ownerId: string) {
  const call = listTrunkRegistrations({ db, clock, sip: { announced: null } });
  const { registrations } = (await call({ ownerId }, {} as never)) as ListTrunkRegistrationsResponse;
  const [only] = registrations;
  const { state, since, expiresAt, sipStatus, reason } = only ?? {};
  return only && { state: nameOf(REGISTRATION_STATES, state ?? 0), since, expiresAt, sipStatus, reason };
}

test("an owner sees how the registration stands and since when, whichever process registers", async () => {
  const key = connect("car_1");
  const [one, other] = [voiceProcess("one"), voiceProcess("other")];
  const later = (ms: number) => new Date(clock.now().getTime() + ms);
  expect(await shown(key.ownerId)).toBeUndefined();
  await registerOnce(one, key);
  const since = clock.now();
  expect(await shown(key.ownerId)).toMatchObject({ state: "REGISTERED", since, expiresAt: later(120_000) });
  clock.advance(60_000);
  await registerOnce(other, key);
  expect(await shown(key.ownerId)).toMatchObject({ state: "REGISTERED", since, expiresAt: later(120_000) });
  expect(await shown(newOwner())).toBeUndefined();

  clock.advance(60_000);
  refusal = { refused: 403, reason: `For\u0000bidden${"!".repeat(1_000)}` };
  await registerOnce(one, key)?.catch(() => {});
  const refused = { state: "REFUSED" as const, since: clock.now(), sipStatus: 403, expiresAt: undefined };
  clock.advance(5_000);
  await registerOnce(one, key)?.catch(() => {});
  expect(await shown(key.ownerId)).toEqual({ ...refused, reason: `For bidden${"!".repeat(190)}` });

  refusal = { refused: 408, reason: "Request Timeout" };
  await registerOnce(one, key)?.catch(() => {});
  expect(await shown(key.ownerId)).toMatchObject({ state: "UNREACHABLE", since: clock.now(), sipStatus: 408 });
  refusal = new EgressError("unresolvable", "trunk.example has no address");
  await registerOnce(one, key)?.catch(() => {});
  expect(await shown(key.ownerId)).toMatchObject({ state: "UNREACHABLE", reason: "trunk.example has no address" });
});

test("trunks that have stopped registering in the last day are counted, whether they refuse or nobody renews", async () => {
  const process = voiceProcess("one");
  const counted = () => countUnregistered(db, clock.now(), new Date(clock.now().getTime() - 24 * 60 * 60_000));
  const [kept, lost, refused] = [connect("car_1"), connect("car_2"), connect("car_3")];
  const before = await counted();
  for (const key of [kept, lost, refused]) await registerOnce(process, key);
  expect(await counted()).toBe(before);
  clock.advance(121_000);
  await registerOnce(process, kept);
  refusal = { refused: 403, reason: "Forbidden" };
  await registerOnce(process, refused)?.catch(() => {});
  expect(await counted()).toBe(before + 2);
  clock.advance(25 * 60 * 60_000);
  refusal = null;
  await registerOnce(process, kept);
  expect(await counted()).toBe(0);
});

test("a registration that nobody renews is shown as one to be made again", async () => {
  const key = connect("car_1");
  await registerOnce(voiceProcess("one"), key);
  clock.advance(121_000);
  const since = new Date(clock.now().getTime() - 1_000);
  expect(await shown(key.ownerId)).toMatchObject({ state: "REGISTERING", since, expiresAt: undefined });
  await registerOnce(voiceProcess("other"), key);
  expect(await shown(key.ownerId)).toMatchObject({ state: "REGISTERED", since: clock.now() });
  trunks.clear();
  await registerOnce(voiceProcess("other"), key);
  expect(await shown(key.ownerId)).toBeUndefined();
});
