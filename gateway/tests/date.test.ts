import { afterAll, beforeAll, expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { readDate, readEndDate } from "../src/http/date.ts";

// The host's time zone must not matter.
const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = "Asia/Kolkata";
});
afterAll(() => {
  process.env.TZ = zone ?? "UTC";
});

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31T09:30", "2026-01-31T09:30:00.000Z"],
  ["2026-01-31 09:30:15.250", "2026-01-31T09:30:15.250Z"],
  ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"],
  ["2026-01-31T09:30:00+05:30", "2026-01-31T04:00:00.000Z"],
  ["2026-01-31T09:30:00-0800", "2026-01-31T17:30:00.000Z"],
])("%s is %s", (text, moment) => {
  expect(readDate("from_date", text).toISOString()).toBe(moment);
});

test("at the end of a span, a date means its last millisecond and a time means itself", () => {
  expect(readEndDate("to_date", "2026-01-31").toISOString()).toBe("2026-01-31T23:59:59.999Z");
  expect(readEndDate("to_date", "2026-01-31T09:30").toISOString()).toBe("2026-01-31T09:30:00.000Z");
});

test.each(["2026-02-30", "2026-02-30T10:00:00Z", "2026-04-31T00:00:00+02:00", "2026-13-01"])(
  "%s, a day that does not exist, is refused by its field's name",
  (text) => {
    expect(() => readDate("from_date", text)).toThrow(
      new ServiceError("invalid", "from_date must be a date that exists, in ISO 8601"),
    );
  },
);

test.each(["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])(
  "%s, which is outside the years 1 to 9999 in UTC, is refused by its field's name",
  (text) => {
    expect(() => readDate("from_date", text)).toThrow(
      new ServiceError("invalid", "from_date must be between the years 1 and 9999 in UTC"),
    );
  },
);
