import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bucketFiles } from "../src/recording/files/bucket.ts";
import type { RecordingFiles } from "../src/recording/files/files.ts";
import { folderFiles } from "../src/recording/files/folder.ts";
import { parseRecordingsPlace } from "../src/recording/files/place.ts";
import { type ScriptedBucket, startScriptedBucket } from "./kit/scripted-bucket.ts";

const NAME = "own_1/0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c";
const KEY = "calls/own_1/0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c.ogg";

let folder: string;
let bucket: ScriptedBucket;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-recordings-"));
  bucket = startScriptedBucket("recordings");
});
afterEach(async () => {
  await bucket.stop();
  await rm(folder, { recursive: true, force: true });
});

const inBucket = (timeoutMs = 5_000) =>
  bucketFiles(
    { bucket: "recordings", prefix: "calls" },
    { endpoint: bucket.url, region: "eu-west-1", accessKeyId: "a", secretAccessKey: "s", timeoutMs },
  );
const STORES: [string, () => RecordingFiles][] = [
  ["a folder", () => folderFiles(folder)],
  ["a bucket", () => inBucket()],
];

const bytesOf = (length: number, seed: number) => Uint8Array.from({ length }, (_, at) => (at * 31 + seed) % 251);

async function read(files: RecordingFiles, from: number, to: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of files.read(NAME, from, to)) {
    expect(piece.length).toBeLessThanOrEqual(64 * 1024);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

describe.each(STORES)("in %s", (_, open) => {
  test("what was written can be read in full and in part, and is gone once it is removed", async () => {
    const files = open();
    const file = files.create(NAME);
    const pages = Array.from({ length: 5 }, (_, at) => bytesOf(300_000, at));
    for (const page of pages) await file.write(page);
    await file.close();
    const whole = Buffer.concat(pages);
    expect(await files.finish(NAME)).toBe(whole.length);
    expect((await read(files, 0, whole.length)).equals(whole)).toBeTrue();
    expect((await read(files, 299_990, 300_010)).equals(whole.subarray(299_990, 300_010))).toBeTrue();
    expect(await read(files, 10, 10)).toHaveLength(0);
    expect(await files.finish(NAME)).toBe(whole.length);
    await files.remove(NAME);
    expect(await files.finish(NAME)).toBeNull();
    await files.remove(NAME);
  });

  test("finishing a file that was never written does nothing", async () => {
    const files = open();
    await files.create(NAME).close();
    expect(await files.finish(NAME)).toBeNull();
  });

  test("another process finishes what a process that died has stored", async () => {
    const file = open().create(NAME);
    const stored = bytesOf(262_144, 1);
    await file.write(stored);
    expect(await open().finish(NAME)).toBe(stored.length);
    expect((await read(open(), 0, stored.length)).equals(Buffer.from(stored))).toBeTrue();
    await file.close();
  });

  test("an id that is not a file name stays inside the folder", async () => {
    const files = open();
    const file = files.create("../../outside");
    await file.write(bytesOf(10, 1));
    await file.close();
    expect(await files.finish("../../outside")).toBe(10);
    if (bucket.objects.size > 0) for (const key of bucket.objects.keys()) expect(key).toStartWith("calls/");
    else expect([...new Bun.Glob("**/*").scanSync({ cwd: folder })]).toHaveLength(1);
  });
});

test("a file that cannot be written rejects, and says why", async () => {
  await writeFile(join(folder, "own_1"), "a file in the place of a folder");
  const written = await folderFiles(folder)
    .create(NAME)
    .write(bytesOf(10, 1))
    .catch((error) => error.code);
  expect(written).toBe("EEXIST");
});

test("a recording of a bucket becomes one object, and its pieces are deleted", async () => {
  const files = inBucket();
  const file = files.create(NAME);
  // More than one part of an upload.
  for (let at = 0; at < 21; at++) await file.write(bytesOf(262_144, at));
  await file.close();
  expect(bucket.objects.size).toBe(21);
  expect(await files.finish(NAME)).toBe(21 * 262_144);
  expect([...bucket.objects.keys()]).toEqual([KEY]);
});

test("a finish that was interrupted while deleting the pieces loses nothing when it is repeated", async () => {
  const whole = Buffer.from(bytesOf(1_000, 1));
  bucket.objects.set(KEY, whole);
  bucket.objects.set(`${KEY}.pieces/000002`, whole.subarray(500));
  expect(await inBucket().finish(NAME)).toBe(1_000);
  expect([...bucket.objects.keys()]).toEqual([KEY]);
});

test("a bucket that refuses or hangs rejects in time", async () => {
  bucket.failWith = 403;
  const file = inBucket().create(NAME);
  await file.write(bytesOf(10, 1));
  await expect(file.close()).rejects.toThrow();
  bucket.failWith = null;
  bucket.gate = new Promise(() => {});
  await expect(inBucket(50).finish(NAME)).rejects.toThrow("did not answer within 50 ms");
});

test.each([
  ["", undefined],
  ["/srv/recordings", { type: "folder", path: "/srv/recordings" }],
  ["s3://calls", { type: "bucket", bucket: "calls", prefix: "" }],
  ["s3://calls.acme/2026/voice/", { type: "bucket", bucket: "calls.acme", prefix: "2026/voice" }],
] as const)("%p is where recordings are kept", (text, place) => {
  expect(parseRecordingsPlace(text)).toEqual(place as never);
});

test.each(["s3:", "s3://", "s3://A_b"])("%p is refused", (text) => {
  expect(() => parseRecordingsPlace(text)).toThrow("must be a folder or s3://bucket/prefix");
});
