import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { isRequest } from "../../src/transport/sip/messages/message.ts";
import { listening } from "../listening.ts";
import { phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

test("a description whose codec is a number is refused, and the next caller is answered", async () => {
  const answering = await phone();
  const stranger = await rawPeer(answering);
  const invite = stranger.request("INVITE", {}, stranger.description("a=rtpmap:0 7/8000"));
  stranger.send(invite);
  await stranger.answerTo(invite, 488);
  stranger.stop();
  expect(await (await phone()).call(to(answering), listening().to)).toHaveProperty("answered");
});

test.each([
  ["empty lines", "\n"],
  ["spaces", " "],
])("a caller's %s instead of a key hold up no other call", async (_what, empty) => {
  const agent = listening();
  const answering = await phone(({ accept }) => void accept(agent.to).catch(() => {}));
  const caller = await rawPeer(answering);
  const { within } = await caller.call();
  for (let count = 0; count < 50; count++) caller.send(within("INFO", {}, `${empty.repeat(15_000)}x y z`));
  caller.send(within("INFO", {}, "Signal=5\r\nDuration=160\r\n"));
  await eventually(() => expect(agent.keys).toEqual(["5"]));
  caller.stop();
});

test("a stranger is asked for credentials once for each request, so that a forged address gets one answer", async () => {
  const answering = await phone((invite) => {
    if (invite.called.user !== "busy") invite.hasShown({ username: "trunk", password: "secret", realm: "parley" });
    else invite.refuse(486, "Busy Here");
  });
  const stranger = await rawPeer(answering);
  const answersTo = (status: number) =>
    stranger.received.filter((message) => !isRequest(message) && message.status === status).length;
  stranger.send(stranger.request("INVITE", {}, stranger.description()));
  await eventually(() => expect(answersTo(401)).toBe(1));
  // The other answer is repeated until it is confirmed.
  stranger.send({ ...stranger.request("INVITE", {}, stranger.description()), uri: `sip:busy@${answering.address}` });
  await eventually(() => expect(answersTo(486)).toBeGreaterThan(3));
  expect(answersTo(401)).toBe(1);
  stranger.stop();
});

test.each(["OPTIONS", "REGISTER", "BYE"])(
  "a call that rings is one call, however many %s come meanwhile",
  async (method) => {
    let invited = 0;
    const answering = await phone(() => invited++, "UDP", { t1Ms: 500 });
    const [caller, stranger] = [await rawPeer(answering), await rawPeer(answering)];
    const invite = caller.request("INVITE", {}, caller.description());
    caller.send(invite);
    await caller.answerTo(invite, 100);
    const to = method === "BYE" ? { to: `<sip:agent@${answering.address}>;tag=1` } : {};
    const answers = () => stranger.received.length;
    for (let sent = 0; sent < 5_000; sent += 50) {
      const before = answers();
      for (let at = 0; at < 50; at++) stranger.send(stranger.request(method, to));
      await eventually(() => expect(answers()).toBeGreaterThan(before));
    }
    caller.send(invite);
    const last = caller.request("OPTIONS");
    caller.send(last);
    await caller.answerTo(last, 200);
    expect(invited).toBe(1);
    caller.stop();
    stranger.stop();
  },
);

test("a message of more than 16 KiB is dropped", async () => {
  const answering = await phone();
  const stranger = await rawPeer(answering);
  stranger.send(stranger.request("OPTIONS", { subject: "x".repeat(17_000) }));
  await eventually(() => expect(answering.dropped).toEqual({ malformed_sip: 1 }));
  stranger.stop();
});
