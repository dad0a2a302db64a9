import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { lostCalls } from "../../src/call/hang-up-lost.ts";
import { NotConnected } from "../../src/call/port.ts";
import { CarrierRefusal } from "../../src/carriers/carrier.ts";
import { personDialer } from "../../src/outbound/people/dial-person.ts";
import { personCalls } from "../../src/outbound/people/person-calls.ts";
import { ringingPeople } from "../../src/outbound/people/ring-person.ts";
import type { FarEnd, Leg, LegListener } from "../../src/transport/leg.ts";
import { awaitedStreams } from "../../src/transport/media-stream/awaited-streams.ts";
import type { ArrivedStream } from "../../src/transport/media-stream/connection.ts";
import { fakeTime, settle } from "../kit/fake-time.ts";
import { listening } from "../listening.ts";
import { scriptedCarrier } from "./scripted-carrier.ts";

const [OWN, FIRST, PERSON] = ["+14155550100", "+14155550101", "+14155550199"];
const clock = fakeClock();
const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** A voice process that may call people. Two of them hear the same signals, as of one database. */
function voiceProcess(carrier: ReturnType<typeof scriptedCarrier>, told: ReturnType<typeof ringingPeople>[] = []) {
  const time = fakeTime();
  let addresses = 0;
  const awaited = awaitedStreams(async ({ callId }) => `wss://voice.example.com/${callId}/${addresses++}`);
  const ringing = ringingPeople({
    ...{ db, clock, log: silentLogger, awaited, timers: time },
    carriersOf: async () => carrier,
  });
  told.push(ringing);
  const people = personCalls({
    ...{ db, clock, awaited },
    signals: { tellUnanswered: async (call, how) => told.forEach((each) => void each.unanswered(call, how)) },
  });
  return { time, awaited, ringing, people };
}

/** A person who is being called over a carrier. */
async function calling(carrier = scriptedCarrier()) {
  const told: ReturnType<typeof ringingPeople>[] = [];
  const [here, elsewhere] = [voiceProcess(carrier, told), voiceProcess(carrier, told)];
  const call = { ownerId: newOwner(), carrierId: "car_1", provider: "TWILIO" as const, from: OWN, to: PERSON };
  const farEnds: FarEnd[] = [];
  const over = new AbortController();
  const person = listening();
  const leg = here.ringing.ring(call, person.to, over.signal, async (end) => void farEnds.push(end));
  leg.catch(() => {});
  const callId = async () => {
    for (;;) {
      const [row] = await db<{ callId: string }[]>`
        select call_id from person_calls where owner_id = ${call.ownerId} and carrier_call_id is not null`;
      if (row) return row.callId;
      await settle();
    }
  };
  const jobs = () => db<{ payload: FarEnd }[]>`select payload from jobs where owner_id = ${call.ownerId}`;
  return { ...call, carrier, here, elsewhere, leg, over, farEnds, person, callId, jobs };
}

/** A stream that a carrier has opened. */
function stream(ownerId: string, callId: string) {
  let isRefused = false;
  let accepted: { listener: LegListener; farEnd: FarEnd } | null = null;
  const arrived: ArrivedStream = {
    ...{ ownerId, callId, carrierCallId: "CA1", gone: new AbortController().signal },
    accept: (listener, { farEnd }) => {
      accepted = { listener, farEnd };
      return {} as Leg;
    },
    resume: () => {},
    refuse: () => {
      isRefused = true;
    },
  };
  return { arrived, accepted: () => accepted, isRefused: () => isRefused };
}

const ended = (how: "busy" | "no_answer" | "completed" | "failed") => ({ how, notes: null, durationSeconds: null });

test("a person who answers is heard by the process that waits for them, whichever process the carrier asks", async () => {
  const call = await calling();
  const callId = await call.callId();
  expect(call.carrier.rang).toEqual([PERSON]);
  const urls = await call.elsewhere.people.answer(callId, "CA1");
  expect(urls).toHaveLength(10);
  const { arrived, accepted } = stream(call.ownerId, callId);
  expect(call.elsewhere.awaited.take(arrived)).toBeFalse();
  expect(call.here.awaited.take(arrived)).toBeTrue();
  await call.leg;
  expect(accepted()?.farEnd).toEqual({ type: "carrier", carrierId: "car_1", carrierCallId: "CA1" });
  expect(call.farEnds.map(({ type }) => type)).toEqual(["placed", "carrier"]);
});

test.each([
  ["busy", "busy"],
  ["no_answer", "no_answer"],
  ["failed", "failed"],
  ["completed", "left"],
] as const)(
  "a call to a person that ends as %s before it is heard is %s, and is not answered later",
  async (how, as) => {
    const call = await calling();
    const person = await call.elsewhere.people.find(await call.callId());
    if (!person) throw new Error("the call is not found");
    await call.elsewhere.people.ended(person, ended(how));
    await expect(call.leg).rejects.toMatchObject({ how: as });
    expect(await call.here.people.answer(person.callId, "CA1")).toBeNull();
  },
);

test("a person of whom the carrier reports nothing counts as not answering, and is hung up", async () => {
  const call = await calling();
  await call.callId();
  await call.here.time.pass(61_000);
  await expect(call.leg).rejects.toMatchObject({ how: "no_answer" });
  expect(await call.jobs()).toMatchObject([{ payload: { type: "carrier", carrierCallId: "CA1" } }]);
});

test("a person whom the carrier goes on asking about after a minute is hung up, whatever became of the process", async () => {
  const call = await calling();
  const callId = await call.callId();
  clock.advance(61_000);
  expect(await call.elsewhere.people.answer(callId, "CA1")).toBeNull();
});

test("a person is not waited for when the user has left, and is hung up", async () => {
  const call = await calling();
  const callId = await call.callId();
  call.over.abort();
  await expect(call.leg).rejects.toBeInstanceOf(NotConnected);
  expect(await call.jobs()).toMatchObject([{ payload: { type: "carrier", carrierCallId: "CA1" } }]);
  expect(await call.elsewhere.people.answer(callId, "CA1")).toBeNull();
});

test("a person whose stream breaks is hung up at the carrier, which would stream them again", async () => {
  const call = await calling();
  const callId = await call.callId();
  const { arrived, accepted } = stream(call.ownerId, callId);
  call.here.awaited.take(arrived);
  await call.leg;
  accepted()?.listener.ended("lost");
  expect(call.person.endings).toEqual(["lost"]);
  for (let jobs = await call.jobs(); jobs.length === 0; jobs = await call.jobs()) await settle();
  expect(await call.elsewhere.people.answer(callId, "CA1")).toBeNull();
});

test("a call to a person that the carrier refuses fails with the carrier's words", async () => {
  const carrier = scriptedCarrier();
  carrier.next(() => Promise.reject(new CarrierRefusal("21215", "Geo permissions")));
  const call = await calling(carrier);
  await expect(call.leg).rejects.toMatchObject({
    how: "failed",
    note: expect.stringContaining("21215: Geo permissions"),
  });
  expect(await call.jobs()).toHaveLength(0);
});

test("a call to a person whose request was not answered is hung up if it rings", async () => {
  const carrier = scriptedCarrier();
  carrier.isDown = true;
  const call = await calling(carrier);
  await expect(call.leg).rejects.toMatchObject({ how: "failed" });
  expect(await call.jobs()).toMatchObject([{ payload: { type: "placed", from: OWN, to: PERSON } }]);
});

test("a person whose user's process died is hung up while the user's own carrier is down", async () => {
  const [ofUser, ofPerson] = [scriptedCarrier(), scriptedCarrier()];
  ofUser.isDown = true;
  const carriersOf = async (_: string, carrierId: string) => (carrierId === "car_user" ? ofUser : ofPerson);
  const { queues } = lostCalls({ carriersOf, sip: null, log: silentLogger });
  const ends = ["car_user", "car_person"].map((carrierId) => ({
    type: "carrier",
    carrierId,
    carrierCallId: carrierId,
  }));
  const job = { ownerId: newOwner(), payload: { type: "several", ends } } as never;
  await expect(queues["hang-up-lost"]?.run(job, new AbortController().signal)).rejects.toThrow("down");
  expect(ofPerson.hungUp).toEqual(["car_person"]);
});

/** Whom a person is called over, for calls of an agent with these numbers. */
async function lineFor(from: string | undefined, numbers: Record<string, "SIP" | "TWILIO">) {
  const lines: string[] = [];
  const dialed = (line: string) => {
    lines.push(line);
    return Promise.resolve({} as Leg);
  };
  const people = personDialer();
  people.use({
    numbersOf: async () => [FIRST],
    carrierOfNumber: async (_, number) => {
      const provider = numbers[number];
      return provider ? { carrierId: `car_${number}`, provider } : null;
    },
    dialTrunk: ({ fromMobileNumber }) => dialed(`trunk from ${fromMobileNumber}`),
    ringPerson: ({ provider, from }) => dialed(`${provider} from ${from}`),
  });
  const call = { ownerId: "own_1", agentId: "agt_1", from, to: PERSON };
  await people
    .dial(call, listening().to, new AbortController().signal, async () => {})
    .catch(({ how, note }) => lines.push(`${how}: ${note}`));
  return lines;
}

test.each([
  ["of a number of a trunk", OWN, { [OWN]: "SIP", [FIRST]: "TWILIO" }, `trunk from ${OWN}`],
  ["of a number of Twilio's", OWN, { [OWN]: "TWILIO", [FIRST]: "SIP" }, `TWILIO from ${OWN}`],
  ["of a number without a carrier", OWN, { [FIRST]: "SIP" }, `trunk from ${FIRST}`],
  ["from a browser", undefined, { [FIRST]: "TWILIO" }, `TWILIO from ${FIRST}`],
] as const)("in a call %s, a person is called from %p if the carriers are %j", async (_, from, numbers, line) => {
  expect(await lineFor(from, numbers)).toEqual([line]);
});

test("without a number that has a carrier, nobody is called, and the model is told why", async () => {
  expect(await lineFor(undefined, {})).toEqual([expect.stringContaining("which has none with a carrier")]);
});
