import { expect, test } from "bun:test";
import { srtp } from "./srtp.ts";

const [ONE, OTHER] = [new Uint8Array(30).fill(1), new Uint8Array(30).fill(2)];
const packet = (sequence: number) => ({
  payloadType: 0,
  marker: false,
  sequence,
  timestamp: sequence * 160,
  ssrc: 7,
  payload: new Uint8Array(160).fill(sequence),
});

test("packets are readable with the key, even when their numbers wrap", () => {
  const [us, them] = [srtp(ONE, OTHER), srtp(OTHER, ONE)];
  for (let at = 65_530; at < 65_550; at++) {
    const sent = packet(at & 0xffff);
    const bytes = us.write(sent);
    expect(bytes.length).toBe(12 + 160 + 10);
    expect(them.read(bytes)).toEqual({ ...sent, payload: Buffer.from(sent.payload) });
  }
});

test("changed packets, and packets encrypted with another key, are discarded", () => {
  const [us, them] = [srtp(ONE, OTHER), srtp(OTHER, ONE)];
  const bytes = us.write(packet(1));
  for (const at of [0, 20, bytes.length - 1]) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(them.read(changed)).toBeNull();
  }
  expect(srtp(OTHER, OTHER).read(bytes)).toBeNull();
  expect(them.read(new Uint8Array(5))).toBeNull();
  expect(them.read(bytes)).not.toBeNull();
});

test("a new key from the peer is used, and the same key continues", () => {
  const [us, them] = [srtp(ONE, OTHER), srtp(OTHER, ONE)];
  for (let at = 65_500; at < 65_600; at++) them.read(us.write(packet(at & 0xffff)));
  them.rekey(ONE);
  expect(them.read(us.write(packet(64)))).not.toBeNull();
  them.rekey(new Uint8Array(30).fill(3));
  expect(them.read(us.write(packet(65)))).toBeNull();
  expect(them.read(srtp(new Uint8Array(30).fill(3), OTHER).write(packet(1)))).not.toBeNull();
});
