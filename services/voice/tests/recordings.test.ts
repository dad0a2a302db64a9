import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordEventRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { ReadRecordingResponse, Recording } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { startWorker } from "@parley/shared/jobs/worker";
import { silentLogger } from "@parley/shared/log";
import { handOverQueue } from "@parley/shared/owner-events/hand-over";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { obtain } from "@parley/testkit/programs/obtain";
import { FRAME_MS, FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import { nameOf } from "../src/recording/files/files.ts";
import { folderFiles } from "../src/recording/files/folder.ts";
import { recordings } from "../src/recording/recordings.ts";
import { forgetRecordings } from "../src/rpc/forget-recordings.ts";
import { readRecording } from "../src/rpc/read-recording.ts";
import { fakeTime } from "./kit/fake-time.ts";
import { tone } from "./listening.ts";

/** Room for three recordings that are in progress. */
const OWNER_BYTES = 3 * 64 * 1024 * 1024;

const clock = fakeClock();
const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
const folder = await mkdtemp(join(tmpdir(), "parley-recordings-"));
const files = folderFiles(folder);
const publicUrl = "https://api.example";
const kept = recordings({ db, clock, log: silentLogger, files, publicUrl, ownerBytesMax: OWNER_BYTES });
/** What owners are told. */
const events: RecordEventRequest[] = [];
const handingOver = handOverQueue({
  recordEvent: async (event) => {
    events.push(event);
    return {};
  },
});
const worker = startWorker(db, { ...kept.queues, ...handingOver }, silentLogger, { clock, direct: db });
afterAll(async () => {
  await worker.stop();
  await db.end();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const SILENCE = new Int16Array(FRAME_SAMPLES);
const callOf = (ownerId = newOwner()) => ({ ownerId, conversationId: newUuid() });

/** A call of this many seconds, in which the user has one tone, and then the agent another. */
async function record(call = callOf(), seconds = 1) {
  const time = fakeTime();
  const recorder = await kept.begin(call, time);
  recorder?.begin();
  const [user, agent] = [framesOf(tone(440, seconds)), framesOf(tone(880, seconds))];
  for (let at = 0; at < user.length + agent.length; at++) {
    await time.pass(FRAME_MS);
    recorder?.heard(user[at] ?? SILENCE);
    recorder?.sent(agent[at - user.length] ?? SILENCE, 0);
  }
  await recorder?.end();
  return { call, recorder };
}

function framesOf(audio: Pcm): Pcm[] {
  const length = Math.floor(audio.length / FRAME_SAMPLES);
  return Array.from({ length }, (_, at) => audio.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES));
}

async function finished(call = callOf()) {
  await record(call);
  await kept.finish(call);
  await eventually(async () => expect((await read(call)).info.size).toBeGreaterThan(0));
  return call;
}

async function read(
  call: { ownerId: string; conversationId: string },
  range?: object,
): Promise<{ info: Recording; bytes: Buffer }> {
  const parts: ReadRecordingResponse[] = [];
  const wanted = range && { first: undefined, last: undefined, suffixLength: undefined, ...range };
  for await (const part of readRecording({ db, files: folderFiles(folder) })({ ...call, range: wanted }, {} as never))
    parts.push(part);
  const [first, ...rest] = parts.map(({ event }) => event);
  if (first?.$case !== "recording") throw new Error("it did not say what it is");
  return {
    info: first.value,
    bytes: Buffer.concat(rest.map((event) => (event?.$case === "data" ? event.value : Buffer.alloc(0)))),
  };
}

test("a recording has the user on the left and the agent on the right, in sync, and other programs can read it", async () => {
  const { bytes, info } = await read(await finished());
  expect(info.mediaType).toBe("audio/ogg; codecs=opus");
  const opusdec = await obtain("opusdec");
  const path = join(folder, "recording.ogg");
  await Bun.write(path, bytes);
  const decoded = Bun.spawnSync([
    opusdec,
    "--quiet",
    "--rate",
    String(SAMPLES_PER_SECOND),
    "--no-dither",
    path,
    join(folder, "recording.raw"),
  ]);
  expect(decoded.exitCode).toBe(0);
  const both = new Int16Array(await Bun.file(join(folder, "recording.raw")).arrayBuffer());
  const side = (channel: 0 | 1, from: number, to: number) =>
    loudness(both.filter((_, at) => at % 2 === channel).subarray(from * SAMPLES_PER_SECOND, to * SAMPLES_PER_SECOND));
  expect(both.length / 2 / SAMPLES_PER_SECOND).toBeCloseTo(2, 1);
  expect(side(0, 0.1, 0.9)).toBeGreaterThan(5_000);
  expect(side(1, 0.1, 0.9)).toBeLessThan(200);
  expect(side(0, 1.1, 1.9)).toBeLessThan(200);
  expect(side(1, 1.1, 1.9)).toBeGreaterThan(5_000);
});

test("a recording is read by its owner only, and only once it is finished", async () => {
  const { call } = await record();
  expect(await serviceErrorOf(read(call))).toMatchObject({
    kind: "not_found",
    detail: "The recording is not finished yet. Try again.",
  });
  await kept.finish(call);
  await eventually(() => read(call));
  for (const other of [{ ...call, ownerId: newOwner() }, callOf(call.ownerId), { ...call, conversationId: "none" }]) {
    expect(await serviceErrorOf(read(other))).toMatchObject({ kind: "not_found", detail: "Recording not found" });
  }
});

const told = (call: { conversationId: string }) =>
  eventually(() => {
    const ofCall = events.filter(({ conversationId }) => conversationId === call.conversationId);
    expect(ofCall).not.toBeEmpty();
    return ofCall.map(({ event, object }) => ({ event, ...JSON.parse(object) }));
  });

test("an owner is told once of a recording that is ready", async () => {
  const call = await finished();
  await kept.finish(call);
  await eventually(async () => expect(await db`select from jobs where owner_id = ${call.ownerId}`).toHaveLength(0));
  expect(await told(call)).toEqual([
    {
      ...{ event: "recording.ready", status: "ready", reason: null },
      url: `${publicUrl}/v1/public/conversations/${call.conversationId}/recording`,
      bytes: (await read(call)).info.size,
      finished_at: clock.now().toISOString(),
    },
  ]);
});

test("an owner is told why a call is not recorded, once the database can be reached", async () => {
  let isAway = true;
  const away = async () => {
    throw Object.assign(new Error("the connection ended"), { code: "CONNECTION_CLOSED" });
  };
  const unsteady = new Proxy(db, {
    apply: (_, __, given) => (isAway ? away() : Reflect.apply(db, null, given)),
    get: (_, name) => (isAway && name === "begin" ? away : Reflect.get(db, name)),
  });
  const options = { db: unsteady, clock, log: silentLogger, publicUrl, ownerBytesMax: OWNER_BYTES };
  const [call, unset] = [callOf(), callOf()];
  expect(await recordings({ ...options, files }).begin(call, fakeTime())).toBeNull();
  expect(await recordings({ ...options, files: null }).begin(unset, fakeTime())).toBeNull();
  isAway = false;
  const failed = { event: "recording.failed", status: "failed", url: null, bytes: null, finished_at: null };
  expect(await told(call)).toEqual([{ ...failed, reason: "the database is unreachable" }]);
  expect(await told(unset)).toEqual([{ ...failed, reason: "PARLEY_RECORDINGS is not set" }]);
});

test("a range has the bytes that HTTP says", async () => {
  const call = await finished();
  const { bytes, info } = await read(call);
  expect(bytes).toHaveLength(info.size);
  const cases: [object, number, number][] = [
    [{ first: 0, last: 0 }, 0, 1],
    [{ first: 10, last: 19 }, 10, 20],
    [{ first: 100 }, 100, info.size],
    [{ first: 100, last: 10_000_000 }, 100, info.size],
    [{ suffixLength: 7 }, info.size - 7, info.size],
    [{ suffixLength: 10_000_000 }, 0, info.size],
    [{ first: info.size }, info.size, info.size],
    [{ suffixLength: 0 }, info.size, info.size],
  ];
  for (const [range, from, to] of cases) {
    const part = await read(call, range);
    expect([part.info.from, part.info.to]).toEqual([from, to]);
    expect(part.bytes.equals(bytes.subarray(from, to))).toBeTrue();
  }
});

test("an owner's recordings stay within the limit in total, whatever is recorded at once", async () => {
  const ownerId = newOwner();
  const begun = await Promise.all(Array.from({ length: 5 }, () => kept.begin(callOf(ownerId), fakeTime())));
  expect(begun.filter((recorder) => recorder !== null)).toHaveLength(3);
  expect(await kept.begin(callOf(), fakeTime())).not.toBeNull();
});

test("a recording that is finished leaves room for others", async () => {
  const ownerId = newOwner();
  const calls = [await finished(callOf(ownerId)), await finished(callOf(ownerId)), callOf(ownerId), callOf(ownerId)];
  expect(await kept.begin(calls[2] ?? callOf(), fakeTime())).not.toBeNull();
  expect(await kept.begin(calls[3] ?? callOf(), fakeTime())).not.toBeNull();
});

test("recordings are deleted with their conversations, and another owner's are not", async () => {
  const [call, other] = [await finished(), await finished()];
  const forget = forgetRecordings({ db, remove: kept.remove });
  await forget({ ownerId: call.ownerId, conversationIds: [other.conversationId, "no id", newUuid()] }, {} as never);
  await forget({ ownerId: call.ownerId, conversationIds: [call.conversationId] }, {} as never);
  expect(await serviceErrorOf(read(call))).toMatchObject({ kind: "not_found" });
  await eventually(async () => {
    const rows = await db`select 1 from recordings where owner_id = ${call.ownerId}`;
    expect(rows).toHaveLength(0);
  });
  expect(await Bun.file(join(folder, `${nameOf(call)}.ogg`)).exists()).toBeFalse();
  expect((await read(other)).info.size).toBeGreaterThan(0);
  expect(await kept.addressOf(call)).toBeNull();
});

test("a recording whose conversation was deleted before it was finished is deleted too", async () => {
  const { call } = await record();
  await kept.remove(call.ownerId, [call.conversationId]);
  await kept.finish(call);
  await eventually(async () => {
    expect(await db`select 1 from recordings where owner_id = ${call.ownerId}`).toHaveLength(0);
    expect(await Bun.file(join(folder, `${nameOf(call)}.ogg`)).exists()).toBeFalse();
  });
});

test("a call of which nothing was recorded has no recording when it is over", async () => {
  const call = callOf();
  const recorder = await kept.begin(call, fakeTime());
  await recorder?.end();
  await kept.finish(call);
  await eventually(async () => expect(await kept.addressOf(call)).toBeNull());
});

function loudness(audio: Pcm): number {
  return Math.sqrt(audio.reduce((sum, sample) => sum + sample ** 2, 0) / audio.length);
}
