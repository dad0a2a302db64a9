import { expect, test } from "bun:test";
import { NeedsRoom, PAGE_BYTES_MAX, type Room } from "../src/db/bounded-page.ts";
import { boundedReads } from "../src/shares/bounded-reads.ts";
import { failureOf } from "../src/testing/failures.ts";

const MIB = 1024 * 1024;
/** Nobody waits for it. */
const FREE = { reserve: () => ({ due: null, settle: () => {} }), count: () => {} };

/** A pace that makes all large reads wait for `goOn`, and what is counted against it. */
function countingPace(goOn: Promise<void> = Promise.resolve()) {
  let counted = 0;
  const count = (_: string, bytes: number) => {
    counted += bytes;
  };
  const reserve = (ownerId: string, expected: number) => {
    count(ownerId, expected);
    return { due: goOn, settle: (used: number) => count(ownerId, used - expected) };
  };
  return { pace: { reserve, count }, counted: () => counted };
}

/** A call whose response leaves when the test says so. */
function newCall() {
  const gone = new AbortController();
  const thens: (() => void)[] = [];
  return {
    call: { signal: gone.signal, onSent: (then: () => void) => void thens.push(then) },
    sent: () => thens.splice(0).forEach((then) => void then()),
    leave: () => gone.abort(),
  };
}

/** A read of this many bytes, and how often it has run. */
function readOf(bytes: number) {
  const read = async () => {
    read.runs++;
    return { texts: new Map([["id", [{ content: "a".repeat(bytes) }]]]) };
  };
  read.runs = 0;
  return read;
}

/** A read that knows how much it needs before it reads, and the rooms in which it has been read. */
function sizedRead(...needs: number[]) {
  const read = async (room: Room) => {
    for (const bytes of needs) {
      if (room.used + bytes > room.bytes) throw new NeedsRoom(room.used + bytes);
      room.used += bytes;
    }
    read.rooms.push(room.bytes);
    return "rows";
  };
  read.rooms = [] as number[];
  return read;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a small read runs once and at once, however many responses are still being sent", async () => {
  const bounded = boundedReads(FREE);
  const read = readOf(1_000);
  for (let n = 0; n < 30; n++) await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read);
  expect(read.runs).toBe(30);
});

test("a large read waits until earlier responses are sent and then runs again; other owners do not wait", async () => {
  const bounded = boundedReads(FREE);
  const [earlier, call] = [newCall(), newCall()];
  const first = bounded("own_1", 2 * PAGE_BYTES_MAX, earlier.call, readOf(20 * MIB));
  const read = readOf(20 * MIB);
  let isRead = false;
  const reading = bounded("own_1", 2 * PAGE_BYTES_MAX, call.call, read).then(() => {
    isRead = true;
  });
  await first;
  await settled();
  expect([read.runs, isRead]).toEqual([1, false]);
  await bounded("own_2", 2 * PAGE_BYTES_MAX, newCall().call, readOf(20 * MIB));
  earlier.sent();
  await reading;
  expect(read.runs).toBe(2);
});

test("a read of unknown size is given the room that it says it needs, however often that is more", async () => {
  const bounded = boundedReads(FREE);
  const read = sizedRead(1_000, 3 * MIB, 4 * MIB);
  expect(await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read)).toBe("rows");
  expect(read.rooms).toEqual([7 * MIB + 1_000]);
  const next = sizedRead(5 * MIB);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, next);
  expect(next.rooms).toEqual([7 * MIB + 1_000]);
});

test("a room is whole bytes, as a database wants them, also when it is half of what was expected", async () => {
  const bounded = boundedReads(FREE);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, sizedRead(3 * MIB + 1));
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, sizedRead(1));
  const read = sizedRead(1);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read);
  expect(read.rooms).toEqual([1.5 * MIB + 1]);
});

test("of an owner's large reads that begin together, as many are read as there is room for, before any size is known", async () => {
  const bounded = boundedReads(FREE);
  const read = sizedRead(12 * MIB);
  const calls = [1, 2, 3, 4].map(newCall);
  const reads = calls.map(({ call }) => bounded("own_1", PAGE_BYTES_MAX, call, read));
  await settled();
  expect(read.rooms).toHaveLength(2);
  for (const call of calls) {
    call.sent();
    await settled();
  }
  await Promise.all(reads);
  expect(read.rooms).toEqual(Array(4).fill(12 * MIB));
});

test("of a first read, no more than 256 KiB is read before there is room for it; the next has room at once", async () => {
  const bounded = boundedReads(FREE);
  const read = sizedRead(900 * 1024);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read);
  expect(read.rooms).toEqual([900 * 1024, 900 * 1024]);
});

test("a read that turns out to be too large counts against the pace with what it has read until then", async () => {
  const { pace, counted } = countingPace();
  await boundedReads(pace)("own_1", PAGE_BYTES_MAX, newCall().call, sizedRead(2 * MIB, 3 * MIB));
  // The first attempt reads nothing, the second the first page, the third both.
  expect(counted()).toBe(7 * MIB);
});

test("a read that fails, and one whose caller leaves, release their memory", async () => {
  const bounded = boundedReads(FREE);
  const [failing, waiting, holder] = [newCall(), newCall(), newCall()];
  const fail = () => Promise.reject(new Error("a read failed"));
  expect(await failureOf(bounded("own_1", PAGE_BYTES_MAX, failing.call, fail))).toMatchObject({
    message: "a read failed",
  });
  failing.sent();
  await bounded("own_1", 2 * PAGE_BYTES_MAX, holder.call, readOf(31 * MIB));
  const left = failureOf(bounded("own_1", PAGE_BYTES_MAX, waiting.call, readOf(10 * MIB)));
  await settled();
  waiting.leave();
  expect(await left).toMatchObject({ kind: "cancelled" });
  waiting.sent();
  holder.sent();
  await bounded("own_1", 2 * PAGE_BYTES_MAX, newCall().call, readOf(31 * MIB));
});

test("an owner's reads that are all large run once each, as many at a time as its share holds", async () => {
  const bounded = boundedReads(FREE);
  const read = readOf(12 * MIB);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, readOf(12 * MIB));
  const calls = [1, 2, 3, 4].map(newCall);
  const reads = calls.map(({ call }) => bounded("own_1", PAGE_BYTES_MAX, call, read));
  await settled();
  expect(read.runs).toBe(1);
  for (const call of calls) {
    await settled();
    call.sent();
  }
  await Promise.all(reads);
  expect(read.runs).toBe(4);
});

test("an owner that reads little again is expected to, after a few reads", async () => {
  const bounded = boundedReads(FREE);
  await bounded("own_1", PAGE_BYTES_MAX, newCall().call, readOf(12 * MIB));
  for (let n = 0; n < 4; n++) {
    const small = newCall();
    await bounded("own_1", PAGE_BYTES_MAX, small.call, readOf(1_000));
    small.sent();
  }
  const read = readOf(1_000);
  for (let n = 0; n < 15; n++) await bounded("own_1", PAGE_BYTES_MAX, newCall().call, read);
  expect(read.runs).toBe(15);
});

test("an owner's large reads count against its pace, before they begin and as much as they were; small ones do not", async () => {
  const goOn = Promise.withResolvers<void>();
  const { pace, counted } = countingPace(goOn.promise);
  const bounded = boundedReads(pace);
  const read = (bytes: number, ownerId = "own_1", rows = readOf(bytes)) => {
    const { call, sent } = newCall();
    return bounded(ownerId, PAGE_BYTES_MAX, call, rows).then(sent);
  };
  await read(1_000);
  await read(3 * MIB);
  await read(1_000, "own_2");
  const next = readOf(2 * MIB);
  const reading = read(2 * MIB, "own_1", next);
  await settled();
  expect(next.runs).toBe(0);
  goOn.resolve();
  await reading;
  expect(next.runs).toBe(1);
  const failing = bounded("own_1", PAGE_BYTES_MAX, newCall().call, () => Promise.reject(new Error("a read failed")));
  expect(await failureOf(failing)).toBeDefined();
  expect(counted()).toBe(5 * MIB);
});

test("a large read whose caller leaves before there is room for it counts nothing against the pace", async () => {
  const { pace, counted } = countingPace();
  const bounded = boundedReads(pace);
  const [holder, waiting] = [newCall(), newCall()];
  await bounded("own_1", 2 * PAGE_BYTES_MAX, holder.call, readOf(31 * MIB));
  const before = counted();
  const left = failureOf(bounded("own_1", PAGE_BYTES_MAX, waiting.call, readOf(10 * MIB)));
  await settled();
  waiting.leave();
  expect(await left).toMatchObject({ kind: "cancelled" });
  expect(counted()).toBe(before);
});
