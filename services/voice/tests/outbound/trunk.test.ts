import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CallStatus } from "@parley/proto/parley/voice/v1/call.ts";
import { openDatabase } from "@parley/shared/db/database";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { trunkDialer } from "../../src/outbound/dial-trunk.ts";
import { dialSip } from "../../src/sip-calls/dial-sip.ts";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import { listening } from "../listening.ts";
import { phone } from "../sip/phones.ts";
import { OURS, type Outbound, outbound, THEIRS } from "./kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** Places calls over a trunk that handles them like this. */
async function withTrunk(invited: (invite: Invite) => void, allow = "127.0.0.1", password = ""): Promise<Outbound> {
  const trunk = await phone(invited);
  return over({ host: trunk.address, transport: "UDP", ...(password && { username: "acme", password }) }, allow);
}

/** @param settings the trunk's, which may change */
async function over(settings: object, allow = "127.0.0.1"): Promise<Outbound> {
  const ours = await phone();
  const getCarrierCredentials = (async () => ({ carrier: { provider: "SIP", settings } })) as never;
  const kit = outbound(db);
  kit.provider = "SIP";
  kit.ctx.dialTrunk = trunkDialer({ getCarrierCredentials }, dialSip(ours, parseAllowList(allow)));
  return kit;
}

async function placed(kit: Outbound, ringSeconds = 45) {
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  await db`update outbound_calls set ring_seconds = ${ringSeconds} where call_id = ${call.callId}`;
  await kit.work(ownerId);
  return call;
}

/** The call's attempt is over. */
function putBack({ callId }: { callId: string }) {
  return eventually(async () => {
    const rows = await db`select status from outbound_calls where call_id = ${callId}`;
    expect([...rows]).toEqual([{ status: "QUEUED" }]);
  });
}

function ended(kit: Outbound, call: { ownerId: string; callId: string }) {
  return eventually(async () => {
    const now = await kit.get(call);
    expect(now.status).toBe(CallStatus.CALL_STATUS_ENDED);
    return now;
  });
}

test("a call over a trunk rings, is answered and ends when the other party hangs up", async () => {
  const far: { invite: Invite; leg: Leg }[] = [];
  const kit = await withTrunk(async (invite) => {
    invite.ring();
    far.push({ invite, leg: await invite.accept(listening().to) });
  });
  const call = await placed(kit);
  await eventually(async () => expect((await kit.get(call)).status).toBe(CallStatus.CALL_STATUS_IN_PROGRESS));
  await eventually(async () => expect(far).toHaveLength(1));
  expect(far[0]?.invite.called.user).toBe(THEIRS);
  expect(far[0]?.invite.identities[0]?.user).toBe(OURS);
  await far[0]?.leg.hangUp();
  expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_SUCCESS });
});

test("an answered call is held even if it cannot be stored that it is answered", async () => {
  const far: Leg[] = [];
  const kit = await withTrunk((invite) => void invite.accept(listening().to).then((leg) => far.push(leg)));
  kit.ctx.db = new Proxy(db, {
    apply: (target, self, given: [readonly string[]]) =>
      given[0].some((text) => text.includes("set status = 'IN_PROGRESS'"))
        ? Promise.reject(new Error("the database is away"))
        : Reflect.apply(target, self, given),
  });
  const connected = Promise.withResolvers<Leg>();
  const { startCall } = kit.ctx;
  kit.ctx.startCall = (request, connect) =>
    startCall(request, (...given) => {
      const connecting = connect(...given);
      connecting.then(connected.resolve, connected.reject);
      return connecting;
    });
  const call = await placed(kit);
  expect(await connected.promise).toHaveProperty("hangUp");
  // The far end has the call only once it is told that its answer arrived.
  await eventually(async () => expect(far).toHaveLength(1));
  await far[0]?.hangUp();
  expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_SUCCESS });
});

test("a trunk that asks for credentials gets the owner's", async () => {
  const shown: boolean[] = [];
  const kit = await withTrunk(
    async (invite) => {
      shown.push(invite.hasShown({ username: "acme", password: "secret", realm: "parley" }));
      if (shown.at(-1)) invite.refuse(486, "Busy Here");
    },
    "127.0.0.1",
    "secret",
  );
  expect(await ended(kit, await placed(kit))).toMatchObject({ outcome: Outcome.OUTCOME_BUSY });
  // On a busy machine, each request may arrive more than once.
  expect([shown[0], shown.at(-1)]).toEqual([false, true]);
});

test.each([
  [486, Outcome.OUTCOME_BUSY],
  [600, Outcome.OUTCOME_BUSY],
  [480, Outcome.OUTCOME_NO_ANSWER],
  [603, Outcome.OUTCOME_NO_ANSWER],
  [404, Outcome.OUTCOME_ERROR],
  [503, Outcome.OUTCOME_ERROR],
] as const)("a trunk's refusal with %i decides the outcome and is in the notes", async (status, outcome) => {
  const kit = await withTrunk((invite) => invite.refuse(status, "No"));
  expect(await ended(kit, await placed(kit))).toMatchObject({ outcome, notes: `SIP ${status}: No` });
});

test("a phone that nobody answers stops ringing when its seconds are over", async () => {
  const invites: Invite[] = [];
  const kit = await withTrunk((invite) => {
    invites.push(invite);
    invite.ring();
  });
  const call = await placed(kit, 1);
  await eventually(async () => expect((await kit.get(call)).status).toBe(CallStatus.CALL_STATUS_RINGING));
  expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_NO_ANSWER });
  expect(invites[0]?.cancelled.aborted).toBe(true);
});

test("a ringing call that its owner hangs up stops ringing and is cancelled", async () => {
  const invites: Invite[] = [];
  const kit = await withTrunk((invite) => {
    invites.push(invite);
    invite.ring();
  });
  const call = await placed(kit);
  await eventually(async () => expect((await kit.get(call)).status).toBe(CallStatus.CALL_STATUS_RINGING));
  await kit.hangUp(call);
  expect(kit.signals).toContainEqual({ conversationId: call.conversationId, signal: "hang_up" });
  await kit.held.get(call.conversationId)?.end({ outcome: "HUNG_UP_EARLY" });
  expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_CANCELLED });
  await eventually(() => expect(invites[0]?.cancelled.aborted).toBe(true));
});

test("a phone that rings for a process that is gone stops ringing", async () => {
  const invites: Invite[] = [];
  const kit = await withTrunk((invite) => {
    invites.push(invite);
    invite.ring();
  });
  kit.sip = await phone();
  const call = await placed(kit, 120);
  await eventually(async () => expect((await kit.get(call)).status).toBe(CallStatus.CALL_STATUS_RINGING));
  await kit.endLost(call);
  await kit.work(call.ownerId);
  await eventually(() => expect(invites[0]?.cancelled.aborted).toBe(true));
  expect(await kit.get(call)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR });
});

test("a trunk at an address that owners may not reach is not called", async () => {
  const invites: Invite[] = [];
  const kit = await withTrunk((invite) => void invites.push(invite), "10.0.0.1");
  const call = await ended(kit, await placed(kit));
  expect(call).toMatchObject({
    outcome: Outcome.OUTCOME_ERROR,
    notes: expect.stringContaining("not at a public address"),
  });
  expect(invites).toEqual([]);
});

test.each(["UDP", "TCP"])(
  "a call over %s to a trunk that is down waits and rings when the trunk is back",
  async (transport) => {
    const gone = await phone();
    gone.stop();
    const settings = { host: gone.address, transport };
    const kit = await over(settings);
    const call = await placed(kit);
    await putBack(call);
    expect(kit.held.size).toBe(0);

    const back = await phone((invite) => invite.refuse(486, "Busy Here"));
    settings.host = back.address;
    await kit.pass(call.ownerId, 5);
    expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_BUSY, notes: "SIP 486: Busy Here" });
  },
);

test("a call over a trunk that is down for an hour fails, and one that its owner hangs up is cancelled", async () => {
  const gone = await phone();
  gone.stop();
  const kit = await over({ host: gone.address, transport: "TCP" });
  const unwanted = await placed(kit);
  await putBack(unwanted);
  await kit.hangUp(unwanted);
  await kit.pass(unwanted.ownerId, 1);
  expect(await kit.get(unwanted)).toMatchObject({ outcome: Outcome.OUTCOME_CANCELLED });

  const call = await placed(kit);
  await putBack(call);
  kit.clock.advance(3_600_001);
  await kit.work(call.ownerId);
  const notes = "The carrier could not be reached for an hour";
  expect(await ended(kit, call)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR, notes });
  await kit.work(call.ownerId);
  expect(kit.conversations.get(call.conversationId)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR });
});
