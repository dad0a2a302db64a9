import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { tone } from "../listening.ts";
import { socketTo } from "./checks.ts";
import { callsForTest } from "./connected.ts";

const { opened, answered, connected, end } = callsForTest();
const sockets: { close(): void }[] = [];
afterEach(async () => {
  for (const each of sockets.splice(0)) each.close();
  await end();
});

test("a check that is not signed with the call's password is not answered", async () => {
  const { page, peer } = await connected();
  const stranger = await socket(peer.answer);
  await stranger.check(nameIn(page.offer), null);
  await stranger.check(nameIn(page.offer), "a wrong password of a call");
  await stranger.check("else");
  const right = await stranger.check(nameIn(page.offer));
  await eventually(() => expect(stranger.answered()).toEqual([right]));
});

test("we send nothing to the addresses in an offer", async () => {
  const named = await socket("");
  const page = await opened();
  const { peer } = await answered(page.offer.replaceAll(/^a=candidate:.*\r\n/gm, "").concat(candidateOf(named.port)));
  const stranger = await socket(peer.answer);
  await stranger.check(nameIn(page.offer));
  await eventually(() => expect(stranger.answered()).toHaveLength(1));
  expect(named.received).toEqual([]);
});

test("a stranger cannot silence a call by an alert, which is not encrypted", async () => {
  const { page, peer, leg } = await connected();
  const stranger = await socket(peer.answer);
  const alert = Buffer.from([ALERT, 254, 253, ...new Uint8Array(8), 0, 2, 1, 0]);
  await stranger.send(alert);
  await stranger.check(nameIn(page.offer));
  await stranger.send(alert);
  await eventually(() => expect(stranger.answered()).toHaveLength(1));
  leg.play(tone(1_500, 0.5));
  const before = page.frames.length;
  await eventually(() => {
    expect(page.frames.length).toBeGreaterThan(before + 10);
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("a call continues while a stranger sends it datagrams of every kind", async () => {
  const { page, agent, peer } = await connected();
  const stranger = await socket(peer.answer);
  for (let sent = 0; sent < 2_000; sent++) {
    const noise = crypto.getRandomValues(Buffer.alloc(1 + (sent % 1_400)));
    noise.writeUInt8(sent % 256, 0);
    await stranger.send(noise);
  }
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
  expect(agent.endings).toEqual([]);
});

test("checks from many addresses, and pieces of a handshake that never ends, do not keep the browser out", async () => {
  const page = await opened();
  const { peer, agent } = await answered(page.offer);
  const strangers = await Promise.all(Array.from({ length: 5 }, () => socket(peer.answer)));
  for (const each of strangers) {
    await each.check(nameIn(page.offer), "a wrong password of a call");
    for (let sent = 0; sent < 100; sent++) await each.send(pieceOf(sent % 2 === 0 ? 2 ** 24 - 1 : 2_000));
  }
  page.accept(peer.answer);
  await peer.connected;
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

const [ALERT, HANDSHAKE] = [21, 22];
const CERTIFICATE = 11;

async function socket(answer: string) {
  const opened = await socketTo(answer);
  sockets.push(opened);
  return opened;
}

/** The name of ICE in a description. */
function nameIn(description: string): string {
  return /^a=ice-ufrag:(\S+)/m.exec(description)?.[1] ?? "";
}

function candidateOf(port: number): string {
  return `a=candidate:1 1 UDP 2114977791 127.0.0.1 ${port} typ host\r\n`;
}

/** A record with the first byte of a certificate. */
function pieceOf(bytes: number): Buffer {
  const piece = Buffer.alloc(13 + 12 + 1);
  piece.set([HANDSHAKE, 254, 253]);
  piece.writeUInt16BE(12 + 1, 11);
  piece.writeUInt8(CERTIFICATE, 13);
  piece.writeUIntBE(bytes, 14, 3);
  piece.writeUIntBE(1, 22, 3);
  return piece;
}
