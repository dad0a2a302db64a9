import { expect, test } from "bun:test";
import { loopEntry } from "@parley/shared/shares/loop-entry";

/** An entry whose turns of the loop the test begins. */
function manual() {
  let next: (() => void) | null = null;
  const enter = loopEntry((run) => {
    next = run;
  });
  const begun: string[] = [];
  return {
    begun,
    call: (ownerId: string) => {
      const turn = enter(ownerId);
      if (turn) void turn.then(() => begun.push(ownerId));
      else begun.push(ownerId);
    },
    turn: async () => {
      const run = next;
      next = null;
      run?.();
      await Promise.resolve();
    },
  };
}

test("16 calls begin at once in a turn of the loop, and later ones in the next turns, in order", async () => {
  const { begun, call, turn } = manual();
  for (let at = 0; at < 40; at++) call("own_1");
  expect(begun).toHaveLength(16);
  await turn();
  expect(begun).toHaveLength(32);
  await turn();
  expect(begun).toHaveLength(40);
});

test("another owner's call begins in the turn after an owner's burst, however long the burst is", async () => {
  const { begun, call, turn } = manual();
  for (let at = 0; at < 100; at++) call("own_1");
  call("own_2");
  await turn();
  expect(begun.slice(16, 18)).toEqual(["own_1", "own_2"]);
});

test("no call passes those of its owner that wait, and a lone one begins at once", async () => {
  const { begun, call, turn } = manual();
  for (let at = 0; at < 17; at++) call("own_1");
  await turn();
  await turn();
  call("own_3");
  expect(begun.at(-1)).toBe("own_3");
  expect(begun).toHaveLength(18);
});
