import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@parley/shared/db/database";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { createAuthority, createCertificate, storeCertificate } from "@parley/testkit/tls/certificates";
import { OLD_MEDIA_STREAMS } from "../../src/store/media-streams.ts";
import type { ArrivedStream } from "../../src/transport/media-stream/connection.ts";
import { type MediaStreamsOptions, serveMediaStreams } from "../../src/transport/media-stream/media-streams.ts";
import { listening, tone } from "../listening.ts";
import { carrier, FAR_END } from "./carrier.ts";

const clock = fakeClock();
const folder = mkdtempSync(join(tmpdir(), "parley-media-"));
const processes: { stop(): Promise<void> }[] = [];

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterEach(async () => {
  for (const each of processes.splice(0)) await each.stop();
});
afterAll(async () => {
  await db.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function voiceProcess(options: Partial<MediaStreamsOptions> = {}) {
  const arrived: ArrivedStream[] = [];
  const started = serveMediaStreams({
    listen: "127.0.0.1:0",
    tls: null,
    publicUrl: "",
    streamsMax: 10,
    db,
    clock,
    arrived: (stream) => arrived.push(stream),
    dropped: () => {},
    ...options,
  });
  processes.push(started);
  return { ...started, arrived };
}

const soon = () => new Date(clock.now().getTime() + 60_000);

test("a stream that one process expects is taken by whichever process it reaches, once", async () => {
  const [one, other] = [voiceProcess(), voiceProcess()];
  const ownerId = newOwner();
  const { url } = await one.expect({ ownerId, callId: "call_7", dialect: "plivo", expiresAt: soon() });
  const elsewhere = url.replace(one.address ?? "", other.address ?? "");
  const line = await carrier(elsewhere, "plivo");
  line.start();
  await eventually(() => expect(other.arrived).toMatchObject([{ ownerId, callId: "call_7", carrierCallId: "CA1" }]));
  await expect(carrier(url, "plivo")).rejects.toThrow("closed");
});

test("a token that comes twice at once opens one stream", async () => {
  const voice = voiceProcess();
  const { url } = await voice.expect({ ownerId: newOwner(), callId: "call_7", dialect: "twilio", expiresAt: soon() });
  const lines = await Promise.allSettled([carrier(url, "twilio"), carrier(url, "twilio"), carrier(url, "twilio")]);
  expect(lines.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a process that takes no more streams leaves them to another at its address, and continues with its own", async () => {
  const leaving = voiceProcess();
  const ownerId = newOwner();
  const asked = () => leaving.expect({ ownerId, callId: "call_7", dialect: "twilio", expiresAt: soon() });
  const line = await carrier((await asked()).url, "twilio");
  leaving.close();
  const staying = voiceProcess({ listen: leaving.address ?? "" });
  const later = await carrier((await asked()).url, "twilio");
  later.start();
  await eventually(() => expect(staying.arrived).toHaveLength(1));
  line.start();
  await eventually(() => expect(leaving.arrived).toHaveLength(1));
});

test("a stream that arrives too late is refused and forgotten", async () => {
  const process = voiceProcess();
  const ownerId = newOwner();
  const { url } = await process.expect({ ownerId, callId: "call_8", dialect: "twilio", expiresAt: soon() });
  clock.advance(60_001);
  await expect(carrier(url, "twilio")).rejects.toThrow("closed");
  const kept = await process.expect({ ownerId, callId: "call_9", dialect: "twilio", expiresAt: soon() });
  expect(await deleteOldRows(db, OLD_MEDIA_STREAMS, clock.now())).toBe(1);
  await carrier(kept.url, "twilio");
});

test("carriers are sent to the public address, and connect with the operator's certificate", async () => {
  const authority = await createAuthority("test");
  const files = await storeCertificate(folder, "voice", authority, await createCertificate(authority, "voice"));
  const behind = voiceProcess({ tls: files, publicUrl: "wss://voice.example.com/calls" });
  const { url } = await behind.expect({
    ownerId: newOwner(),
    callId: "call_1",
    dialect: "twilio",
    expiresAt: soon(),
  });
  expect(url).toMatch(/^wss:\/\/voice\.example\.com\/calls\/media\/[\w-]{43}$/);
  const direct = url.replace("voice.example.com", behind.address ?? "");
  const socket = new WebSocket(direct, { tls: { ca: authority.cert } } as never);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("close", reject);
  });
  socket.close();
});

test("without an address to listen on, a carrier's call is refused with a message that says what to set", async () => {
  const { expect: expectStream } = voiceProcess({ listen: "" });
  const stream = { ownerId: newOwner(), callId: "call_1", dialect: "twilio", expiresAt: soon() } as const;
  expect(await serviceErrorOf(expectStream(stream))).toMatchObject({
    kind: "condition",
    detail: expect.stringContaining("PARLEY_VOICE_LISTEN"),
  });
});

describe("a call whose carrier ends the stream to press keys", () => {
  /** Such a call, whose carrier does this with the addresses of further streams. */
  async function held(press: (urls: readonly string[]) => Promise<void>) {
    const voice = voiceProcess();
    const us = listening();
    const ownerId = newOwner();
    const { url } = await voice.expect({ ownerId, callId: "call_7", dialect: "twilio", expiresAt: soon() });
    const line = await carrier(url, "twilio");
    line.start();
    const arrived = await eventually(() => voice.arrived[0] ?? Promise.reject(new Error("no stream")));
    const leg = arrived.accept(us.to, {
      farEnd: FAR_END,
      press: (_keys, urls) => press(urls),
      transfer: async () => {},
      hangUp: async () => {},
    });
    return { voice, us, line, leg, ownerId };
  }

  test("goes on in the new stream, with what was still to be said, and without a second call", async () => {
    const other = voiceProcess();
    let next: Awaited<ReturnType<typeof carrier>> | undefined;
    const { voice, us, line, leg } = await held(async ([first = "", second = ""]) => {
      line.hangUp();
      leg.play(tone(500, 0.2));
      leg.mark("said");
      // The first address leads to a process that does not hold the call and closes the stream.
      const elsewhere = await carrier(first.replace(voice.address ?? "", other.address ?? ""), "twilio");
      elsewhere.start();
      await eventually(() => expect(other.arrived).toHaveLength(1));
      other.arrived[0]?.refuse();
      expect(await elsewhere.closed).toBe(1_000);
      next = await carrier(second, "twilio");
      next.start();
    });
    await leg.press("1");
    next?.press("7");
    await eventually(() => {
      expect(us.keys).toEqual(["7"]);
      expect(us.marks).toEqual(["said"]);
    });
    expect(next?.played.length).toBeGreaterThan(0);
    expect([us.endings, voice.arrived.length]).toEqual([[], 1]);
    next?.hangUp();
    await eventually(() => expect(us.endings).toEqual(["hung_up"]));
  });

  test("goes on in its stream if the carrier refuses", async () => {
    const { us, line, leg } = await held(() => Promise.reject(new Error("no")));
    await expect(leg.press("1")).rejects.toThrow("no");
    line.press("7");
    await eventually(() => expect(us.keys).toEqual(["7"]));
    expect(us.endings).toEqual([]);
  });

  test("ends if it is hung up meanwhile, and closes the stream that comes late", async () => {
    let late = "";
    const { us, leg } = await held(async ([first = ""]) => {
      late = first;
      await leg.hangUp();
      const line = await carrier(late, "twilio");
      line.start();
      expect(await line.closed).toBe(1_000);
    });
    await leg.press("1").catch(() => {});
    expect(us.endings).toEqual(["ended_by_us"]);
  });
});
