import { expect, test } from "bun:test";
import { calledNumber } from "./called-number.ts";

test.each([
  ["030 901820", "+493012345678", "+4930901820"],
  ["(0)30 / 901820", "+493012345678", "+4930901820"],
  ["020 7183 8750", "+442071838759", "+442071838750"],
  ["(415) 555-0123", "+14155550100", "+14155550123"],
  ["+33 1 23 45 67 89", "+493012345678", "+33123456789"],
  ["0033 1 23 45 67 89", "+493012345678", "+33123456789"],
  ["030 901820", undefined, "030901820"],
  ["not a number", "+493012345678", "notanumber"],
])("%s, called from %s, is %s", (typed, from, called) => {
  expect(calledNumber(typed, from)).toBe(called);
});
