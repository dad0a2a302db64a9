import { expect, test } from "bun:test";
import { loopShares, loopTurns } from "@parley/shared/shares/loop-shares";

/** A sixteenth of a slice. */
const KIB = 1024;

/** Shares of a loop whose turns the test runs, and a log of the work. */
function manual() {
  const planned: (() => void)[] = [];
  const shares = loopShares((run) => planned.push(run));
  const log: string[] = [];
  const give = (ownerId: string, bytes: number, isFirst?: boolean) =>
    shares.handOver(
      ownerId,
      new Uint8Array(bytes),
      (slice) => log.push(`${ownerId} ${slice.length / KIB}`),
      () => log.push(`${ownerId} done`),
      isFirst,
    );
  const turn = () => planned.splice(0).forEach((run) => void run());
  return { give, turn, log, isIdle: () => planned.length === 0 };
}

test("what fits in an owner's slice is processed at once", () => {
  const { give, turn, log, isIdle } = manual();
  expect([give("own_1", 8 * KIB), give("own_1", 8 * KIB), give("own_2", 16 * KIB)]).toEqual([true, true, true]);
  expect(log).toEqual(["own_1 8", "own_1 8", "own_2 16"]);
  turn();
  expect(isIdle()).toBe(true);
});

test("an owner's flood is processed one slice a turn, in order, and another owner's bytes do not wait for it", () => {
  const { give, turn, log } = manual();
  expect([give("own_1", 40 * KIB), give("own_1", 4 * KIB)]).toEqual([false, false]);
  expect(give("own_2", 2 * KIB)).toBe(true);
  turn();
  expect(give("own_2", 2 * KIB)).toBe(true);
  turn();
  turn();
  expect(log).toEqual(["own_2 2", "own_1 16", "own_2 2", "own_1 16", "own_1 8", "own_1 done", "own_1 4", "own_1 done"]);
});

test("what is of no use any more is dropped, and takes nothing of its owner's slice", () => {
  const planned: (() => void)[] = [];
  const { handOver } = loopShares((run) => planned.push(run));
  const log: string[] = [];
  const give = (name: string, isUsed: boolean) =>
    handOver(
      "own_1",
      new Uint8Array(32 * KIB),
      (slice) => {
        log.push(`${name} ${slice.length / KIB}`);
        return isUsed;
      },
      () => log.push(`${name} done`),
    );
  give("dropped", false);
  give("used", true);
  for (const run of planned.splice(0)) run();
  expect(log).toEqual(["dropped 16", "dropped done", "used 16"]);
});

test("first words go ahead of all that waits of their owner, in order, and of no other owner's", () => {
  const { give, turn, log } = manual();
  for (const owner of ["own_1", "own_2"]) give(owner, 32 * KIB);
  expect([give("own_2", 8 * KIB), give("own_2", 2 * KIB, true), give("own_2", 3 * KIB, true)]).toEqual([
    false,
    false,
    false,
  ]);
  turn();
  expect(log.filter((line) => !line.endsWith("done"))).toEqual(["own_1 16", "own_2 2", "own_2 3", "own_2 11"]);
});

test("floods of several owners take turns, four slices in each turn of the loop", () => {
  const { give, turn, log } = manual();
  const owners = ["own_1", "own_2", "own_3", "own_4", "own_5", "own_6"];
  for (const owner of owners) give(owner, 32 * KIB);
  turn();
  expect(log).toEqual(owners.slice(0, 4).map((owner) => `${owner} 16`));
  turn();
  expect(log.slice(4).filter((line) => !line.endsWith("done"))).toEqual(
    ["own_5", "own_6", "own_1", "own_2"].map((owner) => `${owner} 16`),
  );
});

test("owners take turns on the loop, one piece each, however many pieces wait", async () => {
  const planned: (() => void)[] = [];
  const turns = loopTurns((run) => planned.push(run));
  const log: string[] = [];
  const pieces = ["a", "a", "a", "b", "b", "c"].map((owner) => turns.next(owner).then(() => log.push(owner)));
  const seen: string[] = [];
  while (planned.length > 0) {
    for (const run of planned.splice(0)) run();
    await Promise.resolve();
    await Promise.resolve();
    seen.push(log.splice(0).join(""));
  }
  await Promise.all(pieces);
  expect(seen).toEqual(["abc", "ab", "a"]);
});

test("one turn of the loop serves four owners, and the next one the fifth", async () => {
  const planned: (() => void)[] = [];
  const turns = loopTurns((run) => planned.push(run));
  const log: string[] = [];
  const pieces = ["a", "b", "c", "d", "e"].map((owner) => turns.next(owner).then(() => log.push(owner)));
  planned.shift()?.();
  await Promise.all(pieces.slice(0, 4));
  expect(log.join("")).toBe("abcd");
  planned.shift()?.();
  await Promise.all(pieces);
  expect(log.join("")).toBe("abcde");
});
