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

test("a packet is encrypted as in the test vector of libsrtp", () => {
  const key = Buffer.from("e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6", "hex");
  const sent = {
    payloadType: 15,
    marker: false,
    sequence: 0x1234,
    timestamp: 0xdecafbad,
    ssrc: 0xcafebabe,
    payload: new Uint8Array(16).fill(0xab),
  };
  const bytes = srtp(key, ONE).write(sent);
  expect(Buffer.from(bytes).toString("hex")).toBe(
    "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb",
  );
});

test("a repeated packet is discarded, and late ones are not", () => {
  const [us, them] = [srtp(ONE, OTHER), srtp(OTHER, ONE)];
  const written = Array.from({ length: 200 }, (_, at) => us.write(packet((65_500 + at) & 0xffff)));
  const [first, second, third] = written as [Uint8Array, Uint8Array, Uint8Array];
  for (const bytes of [second, first, third]) expect(them.read(bytes)).not.toBeNull();
  for (const bytes of [second, first, third]) expect(them.read(bytes)).toBeNull();
  for (const bytes of written.slice(150)) expect(them.read(bytes)).not.toBeNull();
  expect(them.read(written[149] as Uint8Array)).not.toBeNull();
  expect(them.read(written[10] as Uint8Array)).toBeNull();
});

test("packets whose headers end too early are discarded", () => {
  const them = srtp(OTHER, ONE);
  expect(them.read(new Uint8Array(22).fill(0x9f))).toBeNull();
  expect(them.read(new Uint8Array(26).fill(0x90))).toBeNull();
  expect(them.read(new Uint8Array())).toBeNull();
});
