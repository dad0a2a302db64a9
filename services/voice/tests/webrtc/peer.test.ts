import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import { UdpTransport } from "werift";
import { checkOffer } from "../../src/transport/webrtc/offer.ts";
import { answerOffer } from "../../src/transport/webrtc/peer.ts";
import { listening, tone } from "../listening.ts";
import { browser } from "./browser.ts";

const OPTIONS = { hostname: "127.0.0.1", ports: { first: 25_000, last: 25_999 }, dropped: () => {} };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

test("agent and browser hear each other, and the browser reads the captions", async () => {
  const page = await opened();
  const agent = listening();
  const peer = await answerOffer(page.offer, OPTIONS, agent.to);
  await page.accept(peer.answer);
  const leg = await peer.connected;
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
});

test("captions from before the browser's channel is open reach it, in order", async () => {
  const page = await opened();
  const agent = listening();
  const peer = await answerOffer(page.offer, OPTIONS, agent.to);
  peer.tell("first");
  peer.tell("x".repeat(100_000));
  const opening = Promise.withResolvers<void>();
  page.channel.stateChanged.subscribe((state) => state === "open" && opening.resolve());
  await page.accept(peer.answer);
  const leg = await peer.connected;
  await opening.promise;
  peer.tell("second");
  await eventually(() => expect(page.captions).toContain("second"));
  // Captions above the limit are dropped.
  expect(page.captions).toEqual(["first", "second"]);
  await leg.hangUp();
});

test("our answer is ICE-lite and has one address, the announced one if there is a NAT", async () => {
  const page = await opened();
  const peer = await answerOffer(page.offer, { ...OPTIONS, announced: "203.0.113.7" }, listening().to);
  peer.connected.catch(() => {});
  open.push(peer);
  expect(peer.answer).toContain("a=ice-lite");
  const addresses = [...peer.answer.matchAll(/^a=candidate:\S+ \d+ \S+ \d+ (\S+)/gm)].map(([, address]) => address);
  expect(new Set(addresses)).toEqual(new Set(["203.0.113.7"]));
});

test("a network error on the media socket ends neither the process nor the socket", async () => {
  const from = await UdpTransport.init("udp4", { interfaceAddresses: { udp4: "127.0.0.1" } });
  const to = await UdpTransport.init("udp4", { interfaceAddresses: { udp4: "127.0.0.1" } });
  open.push(from, to);
  // A browser's closed port can cause this: the ICMP answer reaches the next read.
  to.socket.emit("error", Object.assign(new Error("recvmsg ECONNREFUSED"), { code: "ECONNREFUSED" }));
  const received = Promise.withResolvers<string>();
  to.onData = (bytes) => received.resolve(bytes.toString());
  await from.send(Buffer.from("still here"), [to.host, to.port]);
  expect(await received.promise).toBe("still here");
});

test("a media port that was taken in the meantime is an error of the call, and of nothing else", async () => {
  const first = await UdpTransport.init("udp4", { interfaceAddresses: { udp4: "127.0.0.1" } });
  open.push(first);
  const second = UdpTransport.init("udp4", { port: first.port, interfaceAddresses: { udp4: "127.0.0.1" } });
  await expect(second).rejects.toThrow("EADDRINUSE");
});

test("a peer that is closed before it connects says so", async () => {
  const page = await opened();
  const peer = await answerOffer(page.offer, OPTIONS, listening().to);
  peer.close();
  expect(peer.connected).rejects.toThrow("The browser did not connect its audio");
  await peer.connected.catch(() => {});
});

const OPUS_AUDIO = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n";

test.each([
  ["no description", "hello", "it has no audio"],
  ["no audio", "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n", "it has no audio"],
  [
    "a number instead of a codec",
    "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=rtpmap:0 7/8000\r\n",
    "it does not offer Opus",
  ],
  ["many media", `v=0\r\n${OPUS_AUDIO.repeat(9)}`, "it has more than 8 media"],
  ["another codec", "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=rtpmap:0 PCMU/8000\r\n", "it does not offer Opus"],
  ["too much", "v=0\r\n".repeat(20_000), "it is larger than 16 KiB"],
])("an offer with %s is refused", (_what, offer, why) => {
  expect(() => checkOffer(offer)).toThrow(`The SDP offer cannot be answered: ${why}`);
});

test("an offer that only looks valid is refused, and leaves nothing open", async () => {
  const offer = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 opus/48000/2\r\n";
  checkOffer(offer);
  expect(answerOffer(offer, OPTIONS, listening().to)).rejects.toThrow("The SDP offer cannot be answered");
});

async function opened() {
  const page = await browser();
  open.push(page);
  return page;
}
