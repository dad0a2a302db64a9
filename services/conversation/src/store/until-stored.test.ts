import { expect, test } from "bun:test";
import { silentLogger } from "@parley/shared/log";
import { untilStored } from "./until-stored.ts";

const NOW = [0, 0, 0];

function failing(...codes: (string | null)[]) {
  const tries = { count: 0 };
  const write = async () => {
    const code = codes[tries.count++];
    if (code) throw Object.assign(new Error(code), { code, query: "insert" });
    return "stored";
  };
  return { tries, write };
}

const PASSING = [
  "57P01",
  "57P03",
  "CONNECTION_CLOSED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "40001",
  "53300",
  "25006",
  "57014",
];
test.each(PASSING)("a write that fails with %s is tried again until it works", async (code) => {
  const { tries, write } = failing(code, code, null);
  expect(await untilStored(silentLogger, write, NOW)).toBe("stored");
  expect(tries.count).toBe(3);
});

test.each(["22021", "23505", "42P01", "CONNECTION_ENDED", "no code"])(
  "a write that fails permanently, with %s, is tried once",
  async (code) => {
    const { tries, write } = failing(code, null);
    await expect(untilStored(silentLogger, write, NOW)).rejects.toThrow(code);
    expect(tries.count).toBe(1);
  },
);

test("the failure is reported in the end", async () => {
  const { tries, write } = failing(...new Array<string>(9).fill("57P03"));
  await expect(untilStored(silentLogger, write, NOW)).rejects.toThrow("57P03");
  expect(tries.count).toBe(NOW.length + 1);
});
