import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { Leg } from "../../src/transport/leg.ts";
import type { Invite } from "../../src/transport/sip/answering.ts";
import type { PendingInvite } from "../../src/transport/sip/dialog.ts";
import { headerOf } from "../../src/transport/sip/messages/message.ts";
import { listening, tone } from "../listening.ts";
import { answer, phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

test.each(["UDP", "TCP"] as const)(
  "both sides of a call hear each other over %s until one hangs up",
  async (protocol) => {
    const callee = listening();
    let calleeLeg: Leg | undefined;
    const answering = await phone((invite) => void invite.accept(callee.to).then((leg) => (calleeLeg = leg)), protocol);
    const caller = listening();
    const called = await (await phone()).call(to(answering), caller.to);
    const leg = legOf(called);
    leg.play(tone(500, 0.6));
    leg.mark("said");
    await eventually(() => expect(calleeLeg).toBeDefined());
    calleeLeg?.play(tone(1_500, 0.6));
    await eventually(() => {
      expect(callee.heardTone(500)).toBeTrue();
      expect(caller.heardTone(1_500)).toBeTrue();
      expect(caller.marks).toEqual(["said"]);
    });
    expect(leg.heardSamples()).toBe(9_600);
    await leg.hangUp();
    await leg.hangUp();
    await eventually(() => expect(callee.endings).toEqual(["hung_up"]));
    expect(caller.endings).toEqual(["ended_by_us"]);
  },
);

test("keys that one side presses reach the other as keys, and what it says waits until they are pressed", async () => {
  const callee = listening();
  const answering = await phone((invite) => void invite.accept(callee.to));
  const caller = listening();
  const leg = legOf(await (await phone()).call(to(answering), caller.to));
  leg.play(tone(500, 0.4));
  leg.mark("said");
  await leg.press("12w#");
  expect(caller.marks).toEqual([]);
  await leg.press("1");
  await eventually(() => {
    expect(callee.keys.join("")).toBe("12#1");
    expect(caller.marks).toEqual(["said"]);
    expect(callee.heardTone(500)).toBeTrue();
  });
  await leg.hangUp();
  await expect(leg.press("1")).rejects.toThrow("The call ended before all keys were pressed");
});

test.each([
  ["UDP", "caller"],
  ["TCP", "caller"],
  ["UDP", "callee"],
] as const)("a call over %s whose %s's process is gone is hung up by another process", async (protocol, gone) => {
  const [caller, callee] = [listening(), listening()];
  const accepted = Promise.withResolvers<Leg>();
  const answering = await phone((invite) => void invite.accept(callee.to).then(accepted.resolve), protocol);
  const callerLeg = legOf(await (await phone()).call(to(answering), caller.to));
  const lost = gone === "caller" ? callerLeg : await accepted.promise;
  const farEnd = JSON.parse(JSON.stringify(lost.farEnd?.()));
  const other = await phone();
  other.hangUpLost(farEnd.dialog);
  await eventually(() => expect((gone === "caller" ? callee : caller).endings).toEqual(["hung_up"]));
});

/** A phone that rings, and what another process needs to give the call up: before an answer, and once it rings. */
async function ringingPhone(protocol: "UDP" | "TCP") {
  const pending: PendingInvite[] = [];
  const rung = Promise.withResolvers<Invite>();
  const ringing = await phone((invite) => {
    invite.ring();
    rung.resolve(invite);
  }, protocol);
  const inviting = async (invite: PendingInvite) => void pending.push(JSON.parse(JSON.stringify(invite)));
  const answer = (await phone()).call({ ...to(ringing), inviting }, listening().to);
  await eventually(() => expect(pending.map(({ early }) => early !== null)).toEqual([false, true]));
  const [before, rings] = pending as [PendingInvite, PendingInvite];
  return { invite: await rung.promise, before, rings, answer };
}

test.each([
  ["UDP", "before"],
  ["UDP", "rings"],
  ["TCP", "rings"],
] as const)("a phone that rings over %s for a process that is gone stops ringing (%s)", async (protocol, known) => {
  const call = await ringingPhone(protocol);
  (await phone()).giveUpLost(call[known]);
  await eventually(() => expect(call.invite.cancelled.aborted).toBeTrue());
  expect(await call.answer).toMatchObject({ refused: 487 });
});

test("a phone that is answered before another process gives the call up is hung up", async () => {
  const callee = listening();
  const { invite, rings, answer } = await ringingPhone("UDP");
  await invite.accept(callee.to);
  await answer;
  (await phone()).giveUpLost(rings);
  await eventually(() => expect(callee.endings).toEqual(["hung_up"]));
});

test("a callee whose first request has the number 0 hangs up", async () => {
  const caller = listening();
  const calling = await phone();
  const peer = await rawPeer(calling);
  const { signal } = new AbortController();
  const call = { uri: "sip:raw@127.0.0.1", server: peer.target, from: "<sip:us@127.0.0.1>", signal };
  const placed = calling.call(call, caller.to);
  const invite = await peer.asked("INVITE");
  peer.accept(invite, peer.description());
  expect(await placed).toHaveProperty("answered");
  const names = { "call-id": headerOf(invite, "call-id"), to: headerOf(invite, "from") };
  peer.send(peer.request("BYE", { ...names, cseq: "0 BYE" }));
  await eventually(() => expect(caller.endings).toEqual(["hung_up"]));
  peer.stop();
});

test("what is cleared is not heard by the other side", async () => {
  const callee = listening();
  const answering = await phone(answer(callee.to));
  const leg = legOf(await (await phone()).call(to(answering), listening().to));
  leg.play(tone(500, 30));
  await eventually(() => expect(callee.heardTone(500)).toBeTrue());
  leg.clear();
  expect(leg.queuedSamples()).toBe(0);
  leg.play(tone(1_500, 0.4));
  await eventually(() => expect(callee.heardTone(1_500)).toBeTrue());
  expect(leg.heardSamples()).toBeLessThan(16_000 * 30);
});

test("a refused call says why and leaves no port open", async () => {
  const answering = await phone((invite) => invite.refuse(486, "Busy Here"));
  expect(await (await phone()).call(to(answering), listening().to)).toMatchObject({
    refused: 486,
    reason: "Busy Here",
  });
});

test("a caller that gives up learns so, and so does the callee", async () => {
  const rung: Invite[] = [];
  const answering = await phone((invite) => {
    invite.ring();
    rung.push(invite);
  });
  const patience = new AbortController();
  const calling = (await phone()).call(
    { ...to(answering, patience.signal), ringing: () => patience.abort() },
    listening().to,
  );
  expect(await calling).toMatchObject({ refused: 487, reason: "Request Terminated" });
  const [invite] = rung as [Invite];
  expect(invite.cancelled.aborted).toBeTrue();
  expect(invite.accept(listening().to)).rejects.toThrow("The caller hung up");
});

test("a caller that gives up does not wait for a server that answers nothing, and ends what it answers later", async () => {
  // Long enough that the server answers before the transaction ends.
  const caller = await phone(undefined, "UDP", { t1Ms: 200 });
  const silent = await rawPeer(caller);
  try {
    const call = { uri: "sip:agent@127.0.0.1", server: silent.target, from: "<sip:caller@127.0.0.1>" };
    const calling = caller.call({ ...call, signal: AbortSignal.abort() }, listening().to);
    expect(await calling).toMatchObject({ refused: 487, isUnreached: true });
    const invite = await silent.asked("INVITE");
    silent.answer(invite, 180);
    await silent.asked("CANCEL");
    silent.accept(invite, silent.description());
    await silent.asked("ACK");
    await silent.asked("BYE");
  } finally {
    silent.stop();
  }
});

test("a caller that gives up does not wait for a server that rings and then answers nothing more", async () => {
  const caller = await phone();
  const silent = await rawPeer(caller);
  try {
    const patience = new AbortController();
    const call = { uri: "sip:agent@127.0.0.1", server: silent.target, from: "<sip:caller@127.0.0.1>" };
    const ringing = () => patience.abort();
    const calling = caller.call({ ...call, signal: patience.signal, ringing }, listening().to);
    const invite = await silent.asked("INVITE");
    silent.answer(invite, 180);
    expect(await calling).toMatchObject({ refused: 408, isUnreached: false });
    await silent.asked("CANCEL");
    silent.accept(invite, silent.description());
    await silent.asked("ACK");
    await silent.asked("BYE");
  } finally {
    silent.stop();
  }
});

test("a callee that asks for credentials gets them, and refuses those who lack them", async () => {
  const known = { username: "trunk", password: "secret", realm: "parley" };
  const answering = await phone((invite) => void (invite.hasShown(known) && invite.accept(listening().to)));
  const calling = await phone();
  const right = await calling.call({ ...to(answering), credentials: known }, listening().to);
  expect(right).toHaveProperty("answered");
  const wrong = await calling.call({ ...to(answering), credentials: { ...known, password: "guess" } }, listening().to);
  expect(wrong).toMatchObject({ refused: 401 });
  expect(await calling.call(to(answering), listening().to)).toMatchObject({ refused: 401 });
});

test("a callee that does not respond is given up", async () => {
  const gone = await phone();
  gone.stop();
  expect(await (await phone()).call(to(gone), listening().to)).toMatchObject({ refused: 408 });
});

test("a phone that shuts down ends its calls on the other side", async () => {
  const callee = listening();
  const answering = await phone(answer(callee.to));
  const calling = await phone();
  await calling.call(to(answering), listening().to);
  await eventually(() => expect(callee.frames()).toBeGreaterThan(0));
  calling.stop();
  await eventually(() => expect(callee.endings).toEqual(["hung_up"]));
});

function legOf(answer: object): Leg {
  expect(answer).toHaveProperty("answered");
  return (answer as { answered: Leg }).answered;
}
