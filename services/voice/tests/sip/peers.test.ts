import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { FRAME_MS } from "../../src/audio/pcm.ts";
import type { Leg } from "../../src/transport/leg.ts";
import { headerOf } from "../../src/transport/sip/messages/message.ts";
import { agree } from "../../src/transport/sip/messages/sdp.ts";
import { listening, tone } from "../listening.ts";
import { type Phone, phone } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

const peers: { stop(): void }[] = [];
afterEach(() => {
  for (const peer of peers.splice(0)) peer.stop();
});

test("a repeated INVITE is one call and gets the same answer", async () => {
  let invites = 0;
  const { peer } = await calling((invite, to) => {
    invites++;
    return invite.accept(to);
  });
  const invite = peer.request("INVITE", {}, peer.description());
  peer.send(invite);
  await peer.answerTo(invite, 200);
  peer.received.length = 0;
  peer.send(invite);
  await peer.answerTo(invite, 200);
  expect(invites).toBe(1);
});

test("an answer is repeated until it is confirmed, and the call is lost if it never is", async () => {
  const { peer, agent } = await calling();
  const invite = peer.request("INVITE", {}, peer.description());
  peer.send(invite);
  await eventually(() => expect(agent.endings).toEqual(["lost"]));
  const answers = peer.received.filter((message) => "status" in message && message.status === 200);
  expect(answers.length).toBeGreaterThan(1);
  await peer.asked("BYE");
});

test("a caller that leaves the offer to us answers it with the ACK", async () => {
  const { peer, agent, port } = await calling();
  const { answer } = await peer.call("");
  expect(agree(answer.body)).toMatchObject({ payloadType: 0 });
  peer.speak(port(answer.body), 500);
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

test("while the peer holds the call, playback waits; then it continues", async () => {
  const { peer, leg, agent } = await calling();
  const call = await peer.call();
  const hold = call.within("INVITE", {}, peer.description("a=sendonly"));
  peer.send(hold);
  const held = await peer.answerTo(hold, 200);
  expect(held.body).toContain("a=recvonly");
  peer.send(call.within("ACK", { cseq: headerOf(hold, "cseq").replace("INVITE", "ACK") }));
  leg().play(tone(500, 0.2));
  const marked = leg().heardSamples();
  const resume = call.within("UPDATE", {}, peer.description());
  // After a round trip, playback would have continued.
  const options = call.within("OPTIONS", { cseq: "3 OPTIONS" });
  peer.send(options);
  await peer.answerTo(options, 200);
  expect(leg().heardSamples()).toBe(marked);
  resume.headers.set("cseq", ["4 UPDATE"]);
  peer.send(resume);
  await peer.answerTo(resume, 200);
  await eventually(() => expect(leg().heardSamples()).toBe(3_200));
  expect(agent.holds).toEqual([true, false]);
});

test("keys are heard as telephone events and as INFO", async () => {
  const { peer, agent, port } = await calling();
  const call = await peer.call();
  for (const [sequence, isEnd] of [false, false, true, true].entries()) {
    const payload = Uint8Array.of(7, isEnd ? 0x8a : 0x0a, 0, 160);
    peer.sendRtp(port(call.answer.body), { payloadType: 101, sequence, timestamp: 4_000, payload });
  }
  await eventually(() => expect(agent.keys).toEqual(["7"]));
  const info = call.within("INFO", { "content-type": "application/dtmf-relay" }, "Signal=#\r\nDuration=160\r\n");
  peer.send(info);
  await peer.answerTo(info, 200);
  await eventually(() => expect(agent.keys).toEqual(["7", "#"]));
});

test("keys that a peer sends both as telephone events and as INFO are heard once", async () => {
  const { peer, agent, port } = await calling();
  const call = await peer.call();
  for (const [sequence, key] of [1, 1, 2].entries()) {
    const payload = Uint8Array.of(key, 0x8a, 0, 160);
    peer.sendRtp(port(call.answer.body), { payloadType: 101, sequence, timestamp: 4_000 * (sequence + 1), payload });
    const info = call.within("INFO", {}, `Signal=${key}\r\nDuration=160\r\n`);
    peer.send(info);
    await peer.answerTo(info, 200);
  }
  const end = call.within("INFO", {}, "Signal=#\r\nDuration=160\r\n");
  peer.send(end);
  await eventually(() => expect(agent.keys).toHaveLength(4));
  expect(agent.keys).toEqual(["1", "1", "2", "#"]);
});

test("a peer behind NAT is answered where its packets come from, and strangers are ignored", async () => {
  const { peer, agent, port, leg, answering } = await calling();
  const nowhere = peer.description().replace(/m=audio \d+/, "m=audio 9");
  const { answer } = await peer.call(nowhere);
  peer.speak(port(answer.body), 500);
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
  const stranger = await rawPeer(answering);
  peers.push(stranger);
  stranger.speak(port(answer.body), 1_500);
  await eventually(() => expect(answering.dropped.rtp_stranger).toBeGreaterThan(0));
  expect(agent.heardTone(1_500, 1)).toBeFalse();
  expect(leg().queuedSamples()).toBe(0);
});

test("a stranger who sends first does not take a peer's place", async () => {
  const { peer, agent, port, answering } = await calling();
  const { answer } = await peer.call();
  const stranger = await rawPeer(answering);
  peers.push(stranger);
  stranger.speak(port(answer.body), 1_500);
  await eventually(() => expect(agent.heardTone(1_500)).toBeTrue());
  peer.speak(port(answer.body), 500);
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
  stranger.speak(port(answer.body), 1_500);
  await eventually(() => expect(answering.dropped.rtp_stranger).toBeGreaterThan(0));
});

test("a peer that sends faster than real time is heard in real time", async () => {
  const { peer, agent, port, answering } = await calling();
  const { answer } = await peer.call();
  const payload = new Uint8Array(1_000);
  const beganAt = performance.now();
  let sequence = 0;
  // The system drops some of the packets before we see them, and more on a busy machine.
  await eventually(() => {
    for (const end = sequence + 100; sequence < end; sequence++)
      peer.sendRtp(port(answer.body), { payloadType: 0, sequence, timestamp: sequence * payload.length, payload });
    expect(answering.dropped.rtp_too_much).toBeGreaterThan(50);
  });
  // Silence is heard while nothing arrives, however long that is.
  expect(agent.sounding()).toBeGreaterThan(0);
  // A peer may be a second ahead.
  expect(agent.sounding() * FRAME_MS).toBeLessThanOrEqual(1_000 + performance.now() - beganAt);
});

test("a transfer is requested by REFER and complete when the peer says so", async () => {
  const { peer, agent, leg } = await calling();
  const call = await peer.call();
  const transfer = leg().transfer("+15551230000");
  const refer = await peer.asked("REFER");
  expect(headerOf(refer, "refer-to")).toBe("<sip:+15551230000@127.0.0.1;user=phone>");
  peer.answer(refer, 202);
  peer.send(call.within("NOTIFY", { "content-type": "message/sipfrag" }, "SIP/2.0 200 OK\r\n"));
  await transfer;
  await peer.asked("BYE");
  expect(agent.endings).toEqual(["ended_by_us"]);
});

test("a transfer that the peer refuses fails with its answer, and the call continues", async () => {
  const { peer, agent, leg, port } = await calling();
  const { answer } = await peer.call();
  const transfer = leg().transfer("sip:other@example.com");
  peer.answer(await peer.asked("REFER"), 603);
  expect(transfer).rejects.toThrow("The call could not be transferred: the other side answered 603");
  await transfer.catch(() => {});
  peer.speak(port(answer.body), 500);
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
  expect(agent.endings).toEqual([]);
});

test("a transfer whose new call is not answered fails, and the call continues", async () => {
  const { peer, agent, leg } = await calling();
  const call = await peer.call();
  const transfer = leg().transfer("+15551230000");
  peer.answer(await peer.asked("REFER"), 202);
  peer.send(call.within("NOTIFY", { "content-type": "message/sipfrag" }, "SIP/2.0 486 Busy Here\r\n"));
  expect(transfer).rejects.toThrow("The call could not be transferred: the other side answered 486");
  await transfer.catch(() => {});
  expect(agent.endings).toEqual([]);
});

test.each([
  ["before it accepts", null, [], "the other party hung up before"],
  ["while the new call rings", 202, ["100 Trying"], "the other party hung up before"],
  ["and then reports a refusal", 202, ["100 Trying", "603 Decline"], "the other side answered 603"],
  ["and then reports success", 202, ["100 Trying", "200 OK"], null],
  ["without any report", 202, [], null],
] as const)(
  "a transfer during which the peer hangs up %s is one only if it took place",
  async (_when, status, reports, why) => {
    const { peer, agent, leg } = await calling();
    const call = await peer.call();
    const transfer = leg()
      .transfer("+15551230000")
      .then(
        () => null,
        (error) => error.message,
      );
    const refer = await peer.asked("REFER");
    if (status) peer.answer(refer, status);
    const [progress, outcome] = reports.map((line) =>
      call.within("NOTIFY", { "content-type": "message/sipfrag" }, `SIP/2.0 ${line}\r\n`),
    );
    if (progress) {
      peer.send(progress);
      await peer.answerTo(progress, 200);
    }
    const bye = call.within("BYE");
    if (outcome) bye.headers.set("cseq", ["5 BYE"]);
    peer.send(bye);
    await peer.answerTo(bye, 200);
    if (outcome) {
      outcome.headers.set("cseq", ["6 NOTIFY"]);
      peer.send(outcome);
      await peer.answerTo(outcome, 200);
    }
    expect(await transfer).toBe(why && `The call could not be transferred: ${why}`);
    expect(agent.endings).toEqual(["hung_up"]);
  },
);

test.each([
  ["an unknown call", "BYE", 481, { to: "<sip:agent@127.0.0.1>;tag=unknown" }],
  ["a CANCEL of nothing", "CANCEL", 481, {}],
  ["an unknown method", "SUBSCRIBE", 405, {}],
  ["an extension that we lack", "INVITE", 420, { require: "100rel" }],
  ["a call without Contact", "INVITE", 400, { contact: "" }],
])("%s is refused", async (_what, method, status, headers) => {
  const { peer } = await calling();
  const asked = peer.request(method, headers, method === "INVITE" ? peer.description() : "");
  peer.send(asked);
  await peer.answerTo(asked, status);
});

test("nobody but the caller cancels a call that rings, or replaces it by one with the same names", async () => {
  const { promise: ringing, resolve: rings } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { peer, answering } = await calling(async (invite, to) => {
    rings();
    await answered;
    return invite.accept(to);
  });
  const invite = peer.request("INVITE", {}, peer.description());
  peer.send(invite);
  await ringing;
  const stranger = await rawPeer(answering, "127.0.0.2");
  peers.push(stranger);
  const names = { "call-id": headerOf(invite, "call-id"), from: headerOf(invite, "from") };
  const refused = stranger.request("INVITE", { ...names, require: "100rel" }, stranger.description());
  stranger.send(refused);
  await stranger.answerTo(refused, 420);
  const same = stranger.request("CANCEL", names);
  stranger.send(same);
  await stranger.answerTo(same, 481);
  answer();
  await peer.answerTo(invite, 200);
});

test("a call without a codec that we support is refused", async () => {
  const { peer } = await calling();
  const asked = peer.request("INVITE", {}, peer.description().replace("RTP/AVP 0", "RTP/AVP 9"));
  peer.send(asked);
  await peer.answerTo(asked, 488);
});

type Decide = (
  invite: Parameters<NonNullable<Parameters<typeof phone>[0]>>[0],
  to: ReturnType<typeof listening>["to"],
) => Promise<Leg>;

/** A phone that answers, and a peer that calls it. */
async function calling(decide: Decide = (invite, to) => invite.accept(to)) {
  const agent = listening();
  let leg: Leg | undefined;
  const answering: Phone = await phone(
    (invite) =>
      void decide(invite, agent.to).then(
        (accepted) => (leg = accepted),
        () => {},
      ),
  );
  const peer = await rawPeer(answering);
  peers.push(peer);
  const call = async (body?: string) => {
    const placed = await peer.call(body);
    await eventually(() => expect(leg).toBeDefined());
    return placed;
  };
  return {
    peer: { ...peer, call },
    agent,
    answering,
    leg: () => leg as Leg,
    /** Where the phone listens, by its description. */
    port: (description: string) => agree(description)?.port ?? 0,
  };
}
