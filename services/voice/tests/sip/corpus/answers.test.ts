import { afterEach, beforeEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { responseTo } from "../../../src/transport/sip/messages/derived-messages.ts";
import { headerOf, type SipRequest } from "../../../src/transport/sip/messages/message.ts";
import { listening } from "../../listening.ts";
import { type Phone, phone } from "../phones.ts";
import { rawPeer } from "../raw-peer.ts";

let calling: Phone;
let trunk: Awaited<ReturnType<typeof rawPeer>>;
beforeEach(async () => {
  calling = await phone();
  trunk = await rawPeer(calling);
});
afterEach(() => trunk.stop());

/** Our INVITE to the trunk, what we hear of it, and its answers. */
async function placed() {
  const agent = listening();
  const { signal } = new AbortController();
  const call = { uri: "sip:+1@trunk.example", server: trunk.target, from: '"P, arley" <sip:us@trunk.example>', signal };
  const outcome = calling.call(call, agent.to);
  const invite = await trunk.asked("INVITE");
  const answer = (status: number, headers: Record<string, string>, body = "") =>
    trunk.send(
      responseTo(invite, status, "Answer", {
        headers: {
          to: "<sip:+1@trunk.example>;tag=theirs",
          contact: `<sip:raw@127.0.0.1:${trunk.target.port}>`,
          ...(body !== "" && { "content-type": "application/sdp" }),
          ...headers,
        },
        body,
      }),
    );
  return { agent, outcome, invite, answer };
}

/** A BYE of the callee in the dialog of our INVITE. */
function byeOf(invite: SipRequest, from: string): SipRequest {
  const names = { from, to: headerOf(invite, "from"), "call-id": headerOf(invite, "call-id") };
  return trunk.request("BYE", { ...names, cseq: "7 BYE" });
}

test.each([
  ["a quoted name", '"Bell, \\"A\\"" <sip:+1@trunk.example>;tag=theirs', '"Phone" <sip:raw@127.0.0.1:PORT;ob>;q=1'],
  ["a name of words", "Alexander Bell <sip:+1@trunk.example>\t;x=y;\ttag = theirs", "Phone <sip:raw@127.0.0.1:PORT>"],
  ["no brackets", "sip:+1@trunk.example;tag=theirs", "sip:raw@127.0.0.1:PORT;expires=5"],
  ["a telephone number", '"B" <tel:+1>;tag=theirs', "<sip:raw@127.0.0.1:PORT;transport=udp>"],
])("an answer with %s is acknowledged, and its callee hangs up", async (_what, to, contact) => {
  const { agent, outcome, invite, answer } = await placed();
  answer(200, { to, contact: contact.replace("PORT", String(trunk.target.port)) }, trunk.description());
  expect(await outcome).toHaveProperty("answered");
  expect((await trunk.asked("ACK")).uri).toStartWith(`sip:raw@127.0.0.1:${trunk.target.port}`);
  const bye = byeOf(invite, to);
  trunk.send(bye);
  await trunk.answerTo(bye, 200);
  expect(agent.endings).toEqual(["hung_up"]);
});

test("a callee who described its audio while it rang need not repeat it in its answer", async () => {
  const { agent, outcome, answer } = await placed();
  answer(183, {}, trunk.description());
  answer(200, {});
  expect(await outcome).toHaveProperty("answered");
  const { body } = await trunk.asked("INVITE");
  trunk.speak(Number(/m=audio (\d+)/.exec(body)?.[1]), 500);
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

test("the description of another phone that rang is not that of the one that answers", async () => {
  const { outcome, answer } = await placed();
  answer(183, { to: "<sip:+1@trunk.example>;tag=other" }, trunk.description());
  answer(200, {});
  expect(await outcome).toMatchObject({ refused: 488 });
  await trunk.asked("BYE");
});

test("an answer's own description counts, whatever was described while it rang", async () => {
  const { outcome, answer } = await placed();
  answer(183, {}, trunk.description("a=inactive"));
  answer(200, {}, trunk.description());
  expect(await outcome).toHaveProperty("answered");
});

test("a call that is redirected is refused, and nobody else is called", async () => {
  const { outcome, answer } = await placed();
  const elsewhere = await rawPeer(calling);
  answer(302, { contact: `<sip:+1900@127.0.0.1:${elsewhere.target.port}>` });
  expect(await outcome).toMatchObject({ refused: 302, isUnreached: false });
  await trunk.asked("ACK");
  expect(elsewhere.received).toEqual([]);
  elsewhere.stop();
});
