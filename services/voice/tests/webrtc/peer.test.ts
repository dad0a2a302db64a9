import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { tone } from "../listening.ts";
import { callsForTest } from "./connected.ts";
import { natBefore } from "./nat.ts";

const { opened, answered, connected, end } = callsForTest();
afterEach(end);

test("agent and browser hear each other, and the browser reads the captions", async () => {
  const { page, agent, peer, leg } = await connected();
  leg.play(tone(1_500, 0.5));
  leg.mark("said");
  await page.say(tone(500, 0.5));
  await eventually(() => {
    expect(agent.heardTone(500)).toBeTrue();
    expect(agent.marks).toEqual(["said"]);
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
  expect(leg.heardSamples()).toBe(8_000);
  expect(page.frames.length).toBeGreaterThan(10);
  await leg.hangUp();
  expect(agent.endings).toEqual(["ended_by_us"]);
  peer.tell("after the end");
  leg.play(tone(1_500, 0.5));
});

test.each(["actpass", "active", "passive"])("a browser that offers a=setup:%s is heard", async (setup) => {
  const { page, agent } = await connected((offer) => offer.replaceAll("a=setup:actpass", `a=setup:${setup}`));
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

test("a browser behind a NAT, whose address its offer does not have, hears and is heard", async () => {
  const page = await opened();
  const { peer, agent } = await answered(page.offer);
  const nat = await natBefore(peer.answer);
  page.accept(nat.answer);
  const leg = await peer.connected;
  leg.play(tone(1_500, 0.5));
  await page.say(tone(500, 0.5));
  await eventually(() => {
    expect(agent.heardTone(500)).toBeTrue();
    expect(page.frames.length).toBeGreaterThan(10);
  });
  nat.close();
});

test("what was cleared is not heard, counted or marked", async () => {
  const { agent, leg } = await connected();
  leg.play(tone(1_500, 0.2));
  leg.mark("first");
  leg.play(tone(1_500, 60));
  leg.mark("second");
  await eventually(() => expect(agent.marks).toEqual(["first"]));
  leg.clear();
  const heard = leg.heardSamples();
  expect(heard).toBeGreaterThanOrEqual(3_200);
  expect(leg.queuedSamples()).toBe(0);
  leg.play(tone(1_500, 0.1));
  leg.mark("third");
  await eventually(() => expect(agent.marks).toEqual(["first", "third"]));
  expect(leg.heardSamples()).toBe(heard + 1_600);
});

test("captions from before the browser's channel is open reach it, in order", async () => {
  const page = await opened();
  const { peer } = await answered(page.offer);
  peer.tell("first");
  peer.tell("x".repeat(100_000));
  page.accept(peer.answer);
  await peer.connected;
  await eventually(() => expect(page.captions).toContain("first"));
  peer.tell("second");
  await eventually(() => expect(page.captions).toContain("second"));
  // Captions above the limit are dropped.
  expect(page.captions).toEqual(["first", "second"]);
});

test("a browser that hangs up ends the call at once", async () => {
  const { page, agent } = await connected();
  await eventually(() => expect(page.channel.isOpen()).toBeTrue());
  page.close();
  await eventually(() => expect(agent.endings).toEqual(["hung_up"]));
});

test("a call that we end is over for the browser at once", async () => {
  const { page, leg } = await connected();
  await eventually(() => expect(page.channel.isOpen()).toBeTrue());
  await leg.hangUp();
  await eventually(() => expect(page.states.at(-1)).toBe("closed"));
});

test("our answer has one address, the announced one if there is a NAT", async () => {
  const page = await opened();
  const addressesOf = (answer: string) =>
    new Set([...answer.matchAll(/^a=candidate:\S+ \d+ \S+ \d+ (\S+)/gm)].map(([, address]) => address));
  const { peer } = await answered(page.offer);
  expect(addressesOf(peer.answer)).toEqual(new Set(["127.0.0.1"]));
  const { peer: behindNat } = await answered(page.offer, { announced: "203.0.113.7" });
  expect(addressesOf(behindNat.answer)).toEqual(new Set(["203.0.113.7"]));
});

test("video in an offer is refused in its place, and the call is held", async () => {
  const video = "m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\na=mid:v\r\na=rtpmap:96 VP8/90000\r\n";
  const page = await opened();
  const { peer } = await answered(page.offer.replace("m=audio", `${video}m=audio`));
  expect(peer.answer.match(/^m=.*/gm)).toEqual([
    "m=video 0 UDP/TLS/RTP/SAVPF 96 97",
    "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  ]);
  page.accept(peer.answer.replace(/m=video[\s\S]*?(?=m=audio)/, ""));
  await peer.connected;
});

test("browsers that connect at once get separate ports, and one that gets no port learns so", async () => {
  const ports = { first: 26_990, last: 26_991 };
  const calls = await Promise.all([connected(undefined, { ports }), connected(undefined, { ports })]);
  for (const { leg } of calls) leg.play(tone(1_500, 0.5));
  await eventually(() => {
    for (const { page } of calls) expect(page.frames.length).toBeGreaterThan(10);
  });
  expect(connected(undefined, { ports })).rejects.toThrow("No RTP port is free");
  for (const { leg } of calls) await leg.hangUp();
  await eventually(() => connected(undefined, { ports }));
});

test("a peer that is closed before it connects says so", async () => {
  const page = await opened();
  const { peer } = await answered(page.offer);
  peer.close();
  expect(peer.connected).rejects.toThrow("The browser did not connect its audio");
  await peer.connected.catch(() => {});
});
