import { expect, test } from "bun:test";
import { nameOf, namesOf, numberOf, TIERS } from "../src/domain/api-names.ts";

test("a name and its number tell each other; what has no name has none, and no name is unspecified", () => {
  for (const name of namesOf(TIERS)) expect(nameOf(TIERS, numberOf(TIERS, name))).toBe(name);
  expect([0, -1, 99].map((number) => nameOf(TIERS, number))).toEqual([undefined, undefined, undefined]);
  expect(numberOf(TIERS, undefined)).toBe(0);
});
