import { expect, test } from "bun:test";
import { opensAt } from "./window.ts";

const window = (from: string, to: string, timezone = "UTC") => {
  const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  return { fromMinute: minuteOf(from), toMinute: minuteOf(to), timezone };
};
const at = (text: string) => new Date(`2026-03-10T${text}Z`);

test("a window is open from its first minute until before its last, in its own time zone", () => {
  expect(opensAt(window("09:00", "17:00"), at("09:00:00"))).toBeNull();
  expect(opensAt(window("09:00", "17:00"), at("16:59:59"))).toBeNull();
  expect(opensAt(window("09:00", "17:00"), at("17:00:00"))).toEqual(new Date("2026-03-11T09:00:00Z"));
  expect(opensAt(window("09:00", "17:00"), at("08:59:30"))).toEqual(at("09:00:00"));
  // New York is four hours behind.
  expect(opensAt(window("09:00", "17:00", "America/New_York"), at("12:59:00"))).toEqual(at("13:00:00"));
  expect(opensAt(window("09:00", "17:00", "America/New_York"), at("20:59:00"))).toBeNull();
});

test("a window that spans midnight is closed in the middle of the day", () => {
  expect(opensAt(window("22:00", "06:00"), at("23:00:00"))).toBeNull();
  expect(opensAt(window("22:00", "06:00"), at("05:59:00"))).toBeNull();
  expect(opensAt(window("22:00", "06:00"), at("06:00:00"))).toEqual(at("22:00:00"));
});

test("without a window calls may begin at any time", () => {
  expect(opensAt(null, at("03:00:00"))).toBeNull();
});
