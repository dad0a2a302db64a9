import { expect, test } from "bun:test";
import { writeRtp } from "@parley/shared/media/rtp-packet";
import { eventually } from "@parley/testkit/eventually";
import { writeSip } from "../../src/transport/sip/messages/message.ts";
import { agree } from "../../src/transport/sip/messages/sdp.ts";
import { listening } from "../listening.ts";
import { phone, to } from "./phones.ts";
import { rawPeer } from "./raw-peer.ts";

const PACKETS = 10_000;
/** The number sent before the receiver gets its turn; more would overflow the socket. */
const AT_ONCE = 50;

test("a call continues while 20,000 malformed packets arrive on the SIP and RTP ports", async () => {
  const agent = listening();
  let isFirst = true;
  const answering = await phone(({ accept }) => {
    void accept(isFirst ? agent.to : listening().to).catch(() => {});
    isFirst = false;
  });
  const attacker = await rawPeer(answering);
  const invite = attacker.request("INVITE", {}, attacker.description());
  const { answer } = await attacker.call();
  const rtpPort = agree(answer.body)?.port ?? 0;

  const random = mulberry(1);
  const sip = Buffer.from(writeSip(invite));
  const rtp = Buffer.from(
    writeRtp({ payloadType: 0, marker: false, sequence: 1, timestamp: 1, ssrc: 1, payload: new Uint8Array(160) }),
  );
  for (let sent = 0; sent < PACKETS; sent += AT_ONCE) {
    for (let at = 0; at < AT_ONCE; at++) {
      attacker.sendText(mutated(sip, random).toString("latin1"));
      attacker.rtp.send(mutated(rtp, random), rtpPort, "127.0.0.1");
    }
    await Bun.sleep(0);
  }

  expect(answering.dropped.malformed_sip).toBeGreaterThan(PACKETS / 10);
  expect(answering.dropped.rtp_malformed).toBeGreaterThan(PACKETS / 100);
  await eventually(() => {
    attacker.speak(rtpPort, 500);
    expect(agent.heardTone(500)).toBeTrue();
  });
  attacker.stop();
  const caller = listening();
  expect(await (await phone()).call(to(answering), caller.to)).toHaveProperty("answered");
  await eventually(() => expect(caller.frames()).toBeGreaterThan(0));
});

/** A copy with a few bytes changed, cut out, doubled or cut off. */
function mutated(original: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(original);
  for (let change = 0; change <= random() * 4; change++) {
    const at = Math.floor(random() * bytes.length);
    const kind = random();
    if (kind < 0.5) bytes[at] = Math.floor(random() * 256);
    else if (kind < 0.7) bytes = bytes.subarray(0, at);
    else if (kind < 0.85)
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 20))]);
    else bytes = Buffer.concat([bytes, bytes.subarray(at)]);
  }
  return bytes.length > 0 ? bytes : Buffer.from([0]);
}

/** Random numbers that are the same in each run. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
