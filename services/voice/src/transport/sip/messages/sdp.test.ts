import { expect, test } from "bun:test";
import { aLaw, muLaw } from "@parley/shared/media/g711";
import { parse } from "sdp-transform";
import { agree, answer, offer } from "./sdp.ts";

const LOCAL = { address: "192.0.2.1", port: 16_384, localKey: new Uint8Array(30).fill(1), sessionId: 7, version: 0 };
const OUR_KEY = Buffer.from(LOCAL.localKey).toString("base64");
const KEY = Buffer.alloc(30, 2).toString("base64");
const session = (...lines: string[]) =>
  ["v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0", ...lines, ""].join("\r\n");

test("the peer's first codec that we support is chosen, with its telephone events", () => {
  const description = session(
    "m=audio 4000 RTP/AVP 9 8 0 96",
    "a=rtpmap:9 G722/8000",
    "a=rtpmap:96 telephone-event/8000",
  );
  expect(agree(description)).toMatchObject({
    law: aLaw,
    payloadType: 8,
    keysType: 96,
    address: "192.0.2.9",
    port: 4_000,
    peerListens: true,
    peerSends: true,
  });
});

test("a codec may have its own payload number", () => {
  expect(agree(session("m=audio 4000 RTP/AVP 97", "a=rtpmap:97 pcmu/8000"))).toMatchObject({
    law: muLaw,
    payloadType: 97,
    keysType: null,
  });
});

test.each([
  ["no codec of ours", session("m=audio 4000 RTP/AVP 9")],
  ["a codec of ours at another rate", session("m=audio 4000 RTP/AVP 97", "a=rtpmap:97 PCMU/16000")],
  ["a refused medium", session("m=audio 0 RTP/AVP 0")],
  ["encryption without a key", session("m=audio 4000 RTP/SAVP 0")],
  ["another cipher only", secure(`1 AES_256_CM_HMAC_SHA1_80 inline:${KEY}`)],
  ["a key that is too short", secure("1 AES_CM_128_HMAC_SHA1_80 inline:AAAA")],
  ["a master key identifier", secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^20|1:4`)],
  ["packets that are not encrypted", secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY} UNENCRYPTED_SRTP`)],
  ["DTLS", session("m=audio 4000 UDP/TLS/RTP/SAVP 0")],
  ["no audio", session("m=video 4000 RTP/AVP 0")],
  ["no description", "hello"],
])("nothing is agreed on with %s", (_what, description) => {
  expect(agree(description)).toBeNull();
});

test.each([
  [["a=sendonly"], { peerListens: false, peerSends: true }, "recvonly"],
  [["a=inactive"], { peerListens: false, peerSends: false }, "inactive"],
  [["a=recvonly"], { peerListens: true, peerSends: false }, "sendonly"],
  [["c=IN IP4 0.0.0.0"], { peerListens: false, peerSends: true }, "recvonly"],
])("a call on hold by %p is answered as such", (lines, expected, direction) => {
  const description = session("m=audio 4000 RTP/AVP 0", ...lines);
  const agreed = agree(description);
  expect(agreed).toMatchObject(expected);
  expect(agreed && parse(answer(LOCAL, description, agreed)).media[0]?.direction).toBe(direction as "recvonly");
});

test("an answer has one medium for each in the offer and refuses all but the audio", () => {
  const description = session(
    "m=video 5000 RTP/AVP 31",
    "m=audio 4000 RTP/AVP 0 101",
    "a=rtpmap:101 telephone-event/8000",
  );
  const agreed = agree(description);
  const media = agreed && parse(answer(LOCAL, description, agreed)).media;
  expect(media?.map(({ type, port, payloads }) => [type, port, String(payloads)])).toEqual([
    ["video", 0, "31"],
    ["audio", 16_384, "0 101"],
  ]);
});

test("an encrypted call is answered with the tag of the key that is used, and our own key", () => {
  const description = secure(
    `4 AES_CM_128_HMAC_SHA1_32 inline:${KEY}`,
    `7 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^31 WSH=64`,
  );
  const agreed = agree(description);
  expect(agreed).toMatchObject({ cryptoTag: 7, remoteKey: Buffer.from(KEY, "base64") });
  const [media] = (agreed && parse(answer(LOCAL, description, agreed)).media) ?? [];
  expect(media?.protocol).toBe("RTP/SAVP");
  expect(media?.crypto).toEqual([{ id: 7, suite: "AES_CM_128_HMAC_SHA1_80", config: `inline:${OUR_KEY}` }]);
});

test("an answer has the offer's protocol", () => {
  const description = session("m=audio 4000 RTP/AVPF 0");
  const agreed = agree(description);
  expect(agreed && answer(LOCAL, description, agreed)).toContain("m=audio 16384 RTP/AVPF 0\r\n");
});

test("our encrypted offer is one that we would accept, with its key", () => {
  expect(agree(offer(LOCAL, true))).toMatchObject({ cryptoTag: 1, remoteKey: Buffer.from(OUR_KEY, "base64") });
});

test("our offer is one that we would accept", () => {
  expect(agree(offer(LOCAL))).toMatchObject({ payloadType: 0, keysType: 101, address: "192.0.2.1", port: 16_384 });
});

function secure(...keys: string[]): string {
  return session("m=audio 4000 RTP/SAVP 0", ...keys.map((key) => `a=crypto:${key}`));
}
