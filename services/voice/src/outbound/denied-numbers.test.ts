import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  Metadata,
  parsePhoneNumberFromString,
} from "libphonenumber-js/max";
import { denialOf } from "./denied-numbers.ts";

type Kind = "PREMIUM_RATE" | "MOBILE" | "FIXED_LINE";

/** Numbers of a country that are valid, and of a kind, made from the pattern of its numbering plan. */
function numbersOf(country: CountryCode, kind: Kind, count: number): string[] {
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  // The library's types lack the patterns.
  const plan = metadata.numberingPlan as unknown as { type(kind: Kind): { pattern(): string } | undefined };
  const pattern = plan.type(kind)?.pattern();
  if (!pattern) return [];
  const national = fc.sample(fc.stringMatching(new RegExp(`^(?:${pattern})$`)), { numRuns: count, seed: 1 });
  return national
    .map((digits) => `+${getCountryCallingCode(country)}${digits}`)
    .filter((number) => {
      const parsed = parsePhoneNumberFromString(number);
      const isPremium = parsed?.getType() === "PREMIUM_RATE";
      return parsed?.number === number && parsed.isValid() && isPremium === (kind === "PREMIUM_RATE");
    });
}

test("premium-rate numbers of every country that has some are refused, with up to four surplus digits too", () => {
  const premium = getCountries()
    .map((country) => numbersOf(country, "PREMIUM_RATE", 20))
    .filter((numbers) => numbers.length > 0);
  expect(premium.length).toBeGreaterThan(140);
  const allowed = premium
    .flatMap((numbers) => numbers.flatMap((number) => ["", "0", "9", "12", "345", "0000"].map((more) => number + more)))
    .filter((number) => denialOf(number, []) === null);
  expect(allowed).toEqual([]);
});

test("numbers of people and firms are not refused for the digits that they begin with", () => {
  const numbers = getCountries().flatMap((country) => [
    ...numbersOf(country, "MOBILE", 10),
    ...numbersOf(country, "FIXED_LINE", 10),
  ]);
  expect(numbers.length).toBeGreaterThan(2_000);
  expect(numbers.filter((number) => denialOf(number, [])?.includes("premium"))).toEqual([]);
});

test.each(["+979123456789", "+878101234567890", "+80812345678", "+881612345678", "+882131234567"])(
  "%s, which belongs to no country, is refused",
  (number) => {
    expect(denialOf(number, [])).toContain("agents may not call");
  },
);
