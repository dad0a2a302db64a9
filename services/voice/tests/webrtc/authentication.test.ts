import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { tone } from "../listening.ts";
import { callsForTest } from "./connected.ts";
import { certificatesIn } from "./impostor.ts";

// Whoever sees an offer, and its answer, knows the browser's certificate and the passwords of ICE. Only the browser has the key.

const { opened, answered, end } = callsForTest();
const folder = await mkdtemp(join(tmpdir(), "parley-impostor-"));
const certificates = await certificatesIn(folder);
afterEach(end);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a browser with the key of its certificate is connected", async () => {
  const page = await opened({ certificate: certificates.own });
  const { peer, agent } = await answered(page.offer);
  page.accept(peer.answer);
  await peer.connected;
  await page.say(tone(500, 0.5));
  await eventually(() => expect(agent.heardTone(500)).toBeTrue());
});

test.each([
  ["we begin the handshake: its signature of the key exchange is verified", "passive"],
  ["it begins the handshake: its signature of the certificate is verified", "active"],
])("the browser's certificate with another key gets no call if %s", async (_which, setup) => {
  const page = await opened({ certificate: certificates.stolen });
  const { peer, agent } = await answered(page.offer.replaceAll("a=setup:actpass", `a=setup:${setup}`));
  peer.tell("a secret");
  page.accept(peer.answer);
  expect(peer.connected).rejects.toThrow("The browser did not connect its audio");
  await peer.connected.catch(() => {});
  expect({ frames: page.frames, captions: page.captions, heard: agent.frames() }).toEqual({
    frames: [],
    captions: [],
    heard: 0,
  });
});

test("another certificate than the offer's gets no call", async () => {
  const page = await opened({ certificate: certificates.own });
  const other = await opened();
  const { peer } = await answered(page.offer.replace(/^a=fingerprint:.*$/m, fingerprintOf(other.offer)));
  peer.tell("a secret");
  page.accept(peer.answer);
  expect(peer.connected).rejects.toThrow("The browser did not connect its audio");
  await peer.connected.catch(() => {});
  expect(page.captions).toEqual([]);
});

function fingerprintOf(offer: string): string {
  return /^a=fingerprint:.*$/m.exec(offer)?.[0] ?? "";
}
