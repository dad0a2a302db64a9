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

test("a window opens at its first minute on the days that clocks change", () => {
  const opens = (from: string, to: string, now: string) =>
    opensAt(window(from, to, "America/New_York"), new Date(now))?.toISOString() ?? "open";
  // They go forward at 07:00Z on March 14, 2027, and back at 06:00Z on November 7.
  expect(opens("09:00", "17:00", "2027-03-14T01:00:00Z")).toBe("2027-03-14T13:00:00.000Z");
  expect(opens("09:00", "17:00", "2027-11-07T01:00:00Z")).toBe("2027-11-07T14:00:00.000Z");
  expect(opens("02:30", "05:00", "2027-03-14T06:00:00Z")).toBe("2027-03-14T07:30:00.000Z");
  expect(opens("01:30", "02:30", "2027-11-07T05:00:00Z")).toBe("2027-11-07T05:30:00.000Z");
  expect(opens("01:30", "02:30", "2027-11-07T06:10:00Z")).toBe("2027-11-07T06:30:00.000Z");
  // The clocks skip the whole window.
  expect(opens("02:15", "02:45", "2027-03-14T06:00:00Z")).toBe("2027-03-14T07:15:00.000Z");
  expect(opens("02:15", "02:45", "2027-03-14T07:15:00Z")).toBe("2027-03-15T06:15:00.000Z");
});
