import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { responseTo } from "../../src/transport/sip/messages/derived-messages.ts";
import { headerOf, isRequest, type SipMessage, type SipRequest } from "../../src/transport/sip/messages/message.ts";
import { listening } from "../listening.ts";
import { answer, phone } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

/** A second lasts 20 ms. */
const FAST = { t1Ms: 10 };
const TIMER = { supported: "timer", require: "timer" };

const peers: { stop(): void }[] = [];
afterEach(() => {
  for (const peer of peers.splice(0)) peer.stop();
});

test("a caller that promises to refresh its call and does not is hung up on", async () => {
  const { peer, agent } = await called();
  const answered = await invited(peer, { ...TIMER, "session-expires": "90;refresher=uac" });
  expect(headerOf(answered, "session-expires")).toBe("90;refresher=uac");
  expect(headerOf(answered, "require")).toBe("timer");
  await peer.asked("BYE");
  expect(agent.endings).toEqual(["lost"]);
});

test("a call that its caller refreshes goes on beyond its interval", async () => {
  const { peer, agent } = await called();
  const answered = await invited(peer, { ...TIMER, "session-expires": "90" });
  const to = headerOf(answered, "to");
  for (let number = 2; number < 8; number++) {
    const headers = { to, cseq: `${number} UPDATE`, supported: "timer", "session-expires": "90;refresher=uac" };
    const update = peer.request("UPDATE", headers);
    peer.send(update);
    expect(headerOf(await peer.answerTo(update, 200), "session-expires")).toBe("90;refresher=uac");
    await Bun.sleep(600);
  }
  expect(agent.endings).toEqual([]);
});

test.each([
  ["UPDATE", "INVITE, ACK, BYE, UPDATE"],
  ["INVITE", "INVITE, ACK, BYE"],
])(
  "a call that we are to refresh is kept alive by %s, until the peer does not know it anymore",
  async (method, allow) => {
    const { peer, agent } = await called();
    await invited(peer, { allow, supported: "timer", x: "90;refresher=uas" });
    for (let count = 1; count <= 3; count++) {
      const refresh = await nth(peer.received, method, count);
      expect(headerOf(refresh, "session-expires")).toBe("90;refresher=uac");
      const body = method === "INVITE" ? peer.description() : "";
      expect(refresh.body === "").toBe(method === "UPDATE");
      const headers = { "session-expires": "90;refresher=uac", contact: headerOf(refresh, "contact") };
      if (count < 3) peer.send(responseTo(refresh, 200, "OK", { headers, body }));
      else peer.answer(refresh, 481);
    }
    await eventually(() => expect(agent.endings).toEqual(["lost"]));
    // One for the call itself, and one for each refresh and the refusal by INVITE.
    if (method === "INVITE") expect(requests(peer.received, "ACK").length).toBeGreaterThanOrEqual(2);
  },
  20_000,
);

test("an interval that is too short is refused with the shortest", async () => {
  const { peer } = await called();
  const invite = peer.request("INVITE", { supported: "timer", "session-expires": "60" }, peer.description());
  peer.send(invite);
  expect(headerOf(await peer.answerTo(invite, 422), "min-se")).toBe("90");
});

test("a call of ours is refreshed if the callee asks for that", async () => {
  const calling = await phone(undefined, "UDP", FAST);
  const peer = await rawPeer(calling);
  peers.push(peer);
  const { signal } = new AbortController();
  const call = { uri: "sip:raw@127.0.0.1", server: peer.target, from: "<sip:us@127.0.0.1>", signal };
  const placed = calling.call(call, listening().to);
  const invite = await peer.asked("INVITE");
  expect(headerOf(invite, "supported")).toBe("timer");
  const headers = {
    contact: `<sip:raw@127.0.0.1:${peer.target.port}>`,
    allow: "INVITE, ACK, BYE, UPDATE",
    "session-expires": "90;refresher=uac",
  };
  peer.send(responseTo(invite, 200, "OK", { toTag: "theirs", headers, body: peer.description() }));
  expect(await placed).toHaveProperty("answered");
  expect(headerOf(await peer.asked("UPDATE"), "session-expires")).toBe("90;refresher=uac");
});

/** A phone that answers, and a peer that may call it. */
async function called() {
  const agent = listening();
  const answering = await phone(answer(agent.to), "UDP", FAST);
  const peer = await rawPeer(answering);
  peers.push(peer);
  return { peer, agent };
}

/** Calls and confirms the call. @returns the answer */
async function invited(peer: Awaited<ReturnType<typeof rawPeer>>, headers: Record<string, string>) {
  const invite = peer.request("INVITE", headers, peer.description());
  peer.send(invite);
  const answered = await peer.answerTo(invite, 200);
  peer.send(peer.request("ACK", { to: headerOf(answered, "to") }));
  return answered;
}

function nth(received: SipMessage[], method: string, count: number): Promise<SipRequest> {
  return eventually(() => {
    const found = [...new Map(requests(received, method).map((each) => [headerOf(each, "cseq"), each])).values()];
    const wanted = found[count - 1];
    if (!wanted) throw new Error(`only ${found.length} of ${method}`);
    return wanted;
  });
}

function requests(received: SipMessage[], method: string): SipRequest[] {
  return received.filter((message) => isRequest(message) && message.method === method) as SipRequest[];
}
