import { describe, expect, test } from "bun:test";
import { scheduleCall } from "./schedule-call.ts";

const NOW = "2027-01-01T00:00:00Z";

/** When a call is scheduled, or what the model is told is wrong. */
function scheduled(time: string, timezone: string, now = NOW): string {
  const clock = { now: () => new Date(now) };
  const { action, result } = scheduleCall.run({ time }, { timezone }, { clock });
  return action?.type === "schedule_call" ? action.call.at : result;
}

describe("schedule_call", () => {
  test.each([
    ["2027-03-14T02:30", "America/New_York", "2027-03-14T07:30:00.000Z"],
    ["2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:30:00.000Z"],
    ["2027-10-03T02:15", "Australia/Lord_Howe", "2027-10-02T15:45:00.000Z"],
    ["2027-09-05T00:30", "America/Santiago", "2027-09-05T04:30:00.000Z"],
  ])("at %s, which the clocks of %s skip, is as much later as they skip", (time, zone, at) => {
    expect(scheduled(time, zone)).toBe(at);
  });

  test("at a time that clocks show twice is the first one that is still to come", () => {
    const asked = (now: string) => scheduled("2027-11-07T01:30", "America/New_York", now);
    expect(asked("2027-11-07T05:29:00Z")).toBe("2027-11-07T05:30:00.000Z");
    expect(asked("2027-11-07T05:31:00Z")).toBe("2027-11-07T06:30:00.000Z");
    expect(asked("2027-11-07T06:31:00Z")).toContain('"time" must be within the next');
  });

  test("around every change of clocks of every time zone is at a moment that shows the asked time, or is in the gap's length after it", () => {
    for (const zone of Intl.supportedValuesOf("timeZone")) {
      const shown = new Intl.DateTimeFormat("sv-SE", {
        timeZone: zone,
        dateStyle: "short",
        timeStyle: "medium",
      });
      for (const changeAt of changesOf(zone, 2027)) {
        const [before, after] = [localMs(shown, changeAt - 1_000) + 1_000, localMs(shown, changeAt)];
        for (let minutes = -180; minutes <= 180; minutes += 30) {
          const askedMs = Math.min(before, after) + minutes * 60_000;
          const isSkipped = askedMs >= before && askedMs < after;
          const at = scheduled(new Date(askedMs).toISOString().slice(0, 16), zone);
          const expectedMs = isSkipped ? askedMs + (after - before) : askedMs;
          expect(`${zone} ${localMs(shown, Date.parse(at))}`).toBe(`${zone} ${expectedMs}`);
        }
      }
    }
  });

  test.each([
    ["2027-05-31T14:30Z", "2027-05-31T14:30:00.000Z"],
    ["2027-05-31T14:30:15.5+05:30", "2027-05-31T09:00:15.500Z"],
    [" 2027-05-31T14:30:15 ", "2027-05-31T18:30:15.000Z"],
  ])("takes %p", (time, at) => {
    expect(scheduled(time, "America/New_York")).toBe(at);
  });

  test.each([
    "2027-02-30T10:00",
    "2027-05-31",
    "2027-05-31T14:30[Asia/Tokyo]",
    "2027-05-31T25:00Z",
    "2027-02-30T10:00Z",
    "2027-04-31T10:00-04:00",
    "2027-05-31T24:00Z",
    "tomorrow",
  ])("refuses %p, and tells the model the form", (time) => {
    expect(scheduled(time, "America/New_York")).toContain('"time" must be a date and a time in ISO 8601');
  });
});

/** When a zone's clocks change in a year, in milliseconds. */
function changesOf(zone: string, year: number): number[] {
  const changes: number[] = [];
  let at = Temporal.PlainDateTime.from({ year, month: 1, day: 2 }).toZonedDateTime(zone).getTimeZoneTransition("next");
  while (at && at.year === year) {
    changes.push(at.epochMilliseconds);
    at = at.getTimeZoneTransition("next");
  }
  return changes;
}

/** What clocks show at a moment, as milliseconds of the same time in UTC. */
function localMs(shown: Intl.DateTimeFormat, ms: number): number {
  return Date.parse(`${shown.format(ms).replace(" ", "T")}Z`);
}
