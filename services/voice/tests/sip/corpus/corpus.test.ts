import { afterEach, beforeEach, expect, test } from "bun:test";
import { readNameAddress } from "../../../src/transport/sip/messages/address.ts";
import { listening } from "../../listening.ts";
import { answer, phone } from "../phones.ts";
import { rawPeer } from "../raw-peer.ts";
import { BODIES, KEYS } from "./bodies.ts";
import { NAME_ADDRESSES } from "./name-addresses.ts";
import { NUMBERS } from "./numbers.ts";
import { PEERS } from "./peers.ts";
import { startSender } from "./sender.ts";

import { TORTURE } from "./torture.ts";

let sender: Awaited<ReturnType<typeof startSender>>;
beforeEach(async () => {
  sender = await startSender();
});
afterEach(() => sender.stop());

test.each([...NAME_ADDRESSES, ...NUMBERS, ...TORTURE])(
  "an INVITE with %s is answered or refused rightly",
  async (_what, message, right) => {
    const { audio: _audio, ...outcome } = await sender.outcomeOf(message);
    expect(outcome).toEqual(right);
  },
);

test.each(BODIES)("of a body with %s, the description is read, and nothing else", async (_what, message, right) => {
  expect(await sender.outcomeOf(message)).toEqual(right);
});

test.each(PEERS)("an INVITE %s is answered", async (_whose, message, right) => {
  const { audio: _audio, ...outcome } = await sender.outcomeOf(message);
  expect(outcome).toEqual(right);
});

test("over TCP, messages are answered whatever the pieces that they arrive in", async () => {
  const messages = [...PEERS, ...BODIES.filter(([, , { status }]) => status === 200)].map(([, message]) => message);
  const answers = await sender.answersOverTcp(messages, 7);
  expect(answers).toEqual(messages.map(() => 200));
});

test("keys by INFO are pressed in every form that telephones send, and other reports press none", async () => {
  const agent = listening();
  const peer = await rawPeer(await phone(answer(agent.to)));
  const call = await peer.call();
  for (const [type, body] of KEYS) {
    const info = call.within("INFO", { "content-type": type }, body);
    peer.send(info);
    await peer.answerTo(info, 200);
  }
  expect(agent.keys).toEqual(KEYS.flatMap(([, , key]) => key ?? []));
  peer.stop();
});

test.each([
  ['"Ada" <sip:a@b>', "Ada"],
  ['"Ada \\"B\\" King, \\\\" <sip:a@b>', 'Ada "B" King, \\'],
  ['"<sip:x@y>;tag=1" <sip:a@b>;tag=2', "<sip:x@y>;tag=1"],
  ["Ada Lovelace <sip:a@b>", "Ada Lovelace"],
  ['"Ada" sip:a@b;tag=2', "Ada"],
  ["<sip:a@b>", ""],
  ["sip:a@b", ""],
])("the name in %p is %p, and the address is the same", (value, name) => {
  expect(readNameAddress(value)).toMatchObject({ name, uri: "sip:a@b" });
});
