import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { createAuthority, createCertificate } from "@parley/testkit/tls/certificates";
import type { Socket } from "bun";
import type { Leg } from "../../src/transport/leg.ts";
import { listening, tone } from "../listening.ts";
import { phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

const authority = await createAuthority("test");
const certificate = await createCertificate(authority, "trunk.example");

/** A phone that takes calls over TLS. */
async function secured() {
  const callee = listening();
  let leg: Leg | undefined;
  const answering = await phone((invite) => void invite.accept(callee.to).then((accepted) => (leg = accepted)), "TLS", {
    tls: { port: 0, ...certificate },
  });
  return { answering, callee, leg: () => leg as Leg };
}

const trusting = () => phone(undefined, "UDP", { authorities: authority.cert, t1Ms: 500 });

test("a call over TLS is heard by both sides in encrypted packets, until one hangs up", async () => {
  const { answering, callee, leg } = await secured();
  const caller = listening();
  const server = { ...answering.server, host: "trunk.example" };
  const called = await (await trusting()).call({ ...to(answering), server, isSecure: true }, caller.to);
  const ours = (called as { answered: Leg }).answered;
  ours.play(tone(500, 0.6));
  await eventually(() => leg().play(tone(1_500, 0.6)));
  await eventually(() => {
    expect(callee.heardTone(500)).toBeTrue();
    expect(caller.heardTone(1_500)).toBeTrue();
  });
  await leg().hangUp();
  await eventually(() => expect(caller.endings).toEqual(["hung_up"]));
  expect(answering.dropped).toEqual({});
});

test("a server whose certificate has another name, or is of an unknown authority, hears nothing of a call", async () => {
  const { answering } = await secured();
  const elsewhere = { ...to(answering), server: { ...answering.server, host: "other.example" } };
  expect(await (await trusting()).call(elsewhere, listening().to)).toEqual({
    refused: 503,
    reason: "The connection failed: ERR_TLS_CERT_ALTNAME_INVALID",
    isUnreached: true,
  });
  expect(await (await phone()).call(to(answering), listening().to)).toEqual({
    refused: 503,
    reason: "The connection failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    isUnreached: true,
  });
  expect(answering.dropped).toEqual({});
});

test("a call that must be encrypted is never answered unencrypted, and unencrypted packets are not heard", async () => {
  const callee = listening();
  const answering = await phone((invite) => void invite.accept(callee.to));
  const peer = await rawPeer(answering);
  const key = Buffer.alloc(30, 9).toString("base64");
  const secure = peer.description(`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`).replace("RTP/AVP", "RTP/SAVP");
  const { answer } = await peer.call(secure);
  expect(answer.body).toMatch(/m=audio \d+ RTP\/SAVP 0 101\r\n/);
  const port = Number(/m=audio (\d+)/.exec(answer.body)?.[1]);
  peer.speak(port, 500);
  await eventually(() => expect(answering.dropped.rtp_unauthentic).toBeGreaterThan(0));
  expect(callee.heardTone(500, 1)).toBeFalse();
  peer.stop();

  const caller = await phone();
  const plain = await rawPeer(caller);
  const calling = caller.call({ ...to(answering), server: plain.target, isSecure: true }, listening().to);
  const invite = await plain.asked("INVITE");
  plain.accept(invite, plain.description());
  expect(await calling).toMatchObject({ refused: 488 });
  await plain.asked("BYE");
  plain.stop();
});

test.each(["TCP", "TLS"] as const)(
  "a call over %s to where nobody listens fails at once, and so does the next",
  async (protocol) => {
    const gone = await phone();
    gone.stop();
    const calling = await phone();
    const server = { protocol, address: "127.0.0.1", port: gone.server.port };
    for (let tried = 0; tried < 2; tried++)
      expect(await calling.call({ ...to(gone), server }, listening().to)).toEqual({
        refused: 503,
        reason: "The connection failed: ECONNREFUSED",
        isUnreached: true,
      });
  },
);

test("a call over TLS to a peer that hangs up on it fails at once", async () => {
  const socket = { data: (given: Socket) => void given.end(), open: () => {} };
  const plain = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  const calling = await phone();
  const server = { protocol: "TLS", address: "127.0.0.1", port: plain.port } as const;
  expect(await calling.call({ ...to(calling), server }, listening().to)).toMatchObject({ refused: 503 });
  plain.stop(true);
});
