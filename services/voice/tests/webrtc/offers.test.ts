import { afterEach, expect, test } from "bun:test";
import { readOffer } from "../../src/transport/webrtc/offer.ts";
import { callsForTest } from "./connected.ts";

const { opened, answered, end } = callsForTest();
afterEach(end);

const FINGERPRINT = `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => "AB").join(":")}`;
const MD5 = `a=fingerprint:md5 ${Array.from({ length: 16 }, () => "AB").join(":")}`;
const OFFER = [
  "v=0",
  "o=- 1 1 IN IP4 0.0.0.0",
  "s=-",
  "t=0 0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 63 111",
  "c=IN IP4 0.0.0.0",
  "a=mid:0",
  "a=sendrecv",
  "a=rtpmap:63 red/48000/2",
  "a=rtpmap:111 opus/48000/2",
  "a=ice-ufrag:Ab1+",
  "a=ice-pwd:abcdefghijklmnopqrstuv",
  "a=setup:actpass",
  FINGERPRINT,
  "",
].join("\r\n");

const without = (line: string) => OFFER.replace(`${line}\r\n`, "");
const with_ = (line: string, other: string) => OFFER.replace(line, other);

test.each([
  ["no description", "hello", "it has no audio"],
  ["no audio", "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n", "it has no audio"],
  ["a number instead of a codec", with_("opus/48000/2", "7/8000"), "it does not offer Opus"],
  ["many media", OFFER + OFFER.slice(OFFER.indexOf("m=")).repeat(8), "it has more than 8 media"],
  ["another codec", with_("opus/48000/2", "PCMU/8000"), "it does not offer Opus"],
  ["Opus under a number that it does not list", with_("63 111", "63"), "it does not offer Opus"],
  ["too much", "v=0\r\n".repeat(20_000), "it is larger than 16 KiB"],
  ["no fingerprint", without(FINGERPRINT), "it has no fingerprint of SHA-256 or stronger (a=fingerprint)"],
  [
    "a fingerprint of MD5 alone",
    with_(FINGERPRINT, MD5),
    "it has no fingerprint of SHA-256 or stronger (a=fingerprint)",
  ],
  [
    "a fingerprint of SHA-1 alone",
    with_("sha-256", "sha-1"),
    "it has no fingerprint of SHA-256 or stronger (a=fingerprint)",
  ],
  [
    "a fingerprint that is too short",
    with_(FINGERPRINT, FINGERPRINT.slice(0, -3)),
    "its fingerprint is not one of SHA-256",
  ],
  ["a fingerprint of another length", with_("sha-256", "sha-512"), "its fingerprint is not one of SHA-512"],
  ["a fingerprint without numbers", with_(":AB:AB", ":XY:AB"), "its fingerprint is not one of SHA-256"],
  ["no user name of ICE", without("a=ice-ufrag:Ab1+"), "it has no ICE user name and password (a=ice-ufrag, a=ice-pwd)"],
  [
    "no password of ICE",
    without("a=ice-pwd:abcdefghijklmnopqrstuv"),
    "it has no ICE user name and password (a=ice-ufrag, a=ice-pwd)",
  ],
  [
    "a password of ICE that is too short",
    with_("ghijklmnopqrstuv", "ghij"),
    "it has no ICE user name and password (a=ice-ufrag, a=ice-pwd)",
  ],
  [
    "a side that only answers",
    OFFER.replace("t=0 0", "t=0 0\r\na=ice-lite"),
    "it is ICE-lite, and so is waiting for us to send first",
  ],
  ["plain RTP", with_("UDP/TLS/RTP/SAVPF", "RTP/AVP"), "its audio is not encrypted (UDP/TLS/RTP/SAVPF)"],
  ["audio that is switched off", with_("a=sendrecv", "a=inactive"), "its audio is switched off"],
  ["audio on port 0", with_("m=audio 9", "m=audio 0"), "its audio is switched off"],
  [
    "a handshake that nobody begins",
    with_("setup:actpass", "setup:holdconn"),
    "it does not say who begins the DTLS handshake (a=setup:actpass)",
  ],
  ["a line of media that cannot be read", OFFER.replace("m=audio", "m=\r\nm=audio"), "it cannot be read"],
])("an offer with %s is refused with a sentence", (_what, offer, why) => {
  expect(() => readOffer(offer)).toThrow(`The SDP offer cannot be answered: ${why}`);
});

test("offers of browsers are answered however they are written", async () => {
  const session = (lines: string[]) =>
    lines
      .reduce((offer, line) => offer.replace(`${line}\r\n`, ""), OFFER)
      .replace("t=0 0", ["t=0 0", ...lines].join("\r\n"));
  for (const offer of [
    OFFER,
    with_(FINGERPRINT, `${FINGERPRINT}\r\n${MD5}`),
    with_(FINGERPRINT, `${MD5}\r\n${FINGERPRINT.toLowerCase()}`),
    session([FINGERPRINT, "a=setup:actpass", "a=ice-ufrag:Ab1+", "a=ice-pwd:abcdefghijklmnopqrstuv"]),
    without("a=mid:0"),
    OFFER.replaceAll("\r\n", "\n"),
    with_("opus", "OPUS"),
    with_("a=ice-ufrag:Ab1+", "a=ice-ufrag:0123"),
  ]) {
    const { peer } = await answered(offer);
    expect(peer.answer).toContain("a=rtpmap:111 opus/48000/2\r\n");
  }
});

test("audio in one direction is answered in that direction", async () => {
  for (const [offered, answer] of [
    ["sendonly", "recvonly"],
    ["recvonly", "sendonly"],
  ]) {
    const { peer } = await answered(with_("a=sendrecv", `a=${offered}`));
    expect(peer.answer).toContain(`a=${answer}\r\n`);
  }
});

test("a data channel that does not share the audio's transport, or has no port, is refused, and the call is not", async () => {
  const page = await opened();
  for (const offer of [
    page.offer.replace(/^a=group:BUNDLE.*\r\n/m, ""),
    page.offer.replace("a=sctp-port:5000", "a=sctp-port:70000"),
  ]) {
    const { peer } = await answered(offer);
    expect(peer.answer).toContain("m=application 0 UDP/DTLS/SCTP webrtc-datachannel");
  }
});
