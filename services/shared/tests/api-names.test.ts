import { expect, test } from "bun:test";
import { nameOf, namesOf, numberOf, TIERS } from "../src/domain/api-names.ts";

test("names and numbers convert both ways; an unknown number has no name, and no name is the unspecified number", () => {
  for (const name of namesOf(TIERS)) expect(nameOf(TIERS, numberOf(TIERS, name))).toBe(name);
  expect([0, -1, 99].map((number) => nameOf(TIERS, number))).toEqual([undefined, undefined, undefined]);
  expect(numberOf(TIERS, undefined)).toBe(0);
});
