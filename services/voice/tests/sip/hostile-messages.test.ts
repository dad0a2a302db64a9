import { expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
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

test("a caller's empty lines instead of a key hold up no other call", async () => {
  const agent = listening();
  const answering = await phone(({ accept }) => void accept(agent.to).catch(() => {}));
  const caller = await rawPeer(answering);
  const { within } = await caller.call();
  for (let count = 0; count < 10; count++) caller.send(within("INFO", {}, "\n".repeat(60_000)));
  caller.send(within("INFO", {}, "Signal=5\r\nDuration=160\r\n"));
  await eventually(() => expect(agent.keys).toEqual(["5"]));
  caller.stop();
});
