import { expect, test } from "bun:test";
import { dayOf, parametersOf } from "./filters.ts";

test("days of the filter are those of the viewer's zone, sent as moments", () => {
  const sent = parametersOf({ from_date: "2026-03-01", to_date: "2026-03-02", agent_id: "agt_1" });
  expect(sent).toEqual({
    agent_id: "agt_1",
    from_date: new Date(2026, 2, 1).toISOString(),
    to_date: new Date(2026, 2, 3, 0, 0, 0, -1).toISOString(),
  });
});

test("an end that an export adds never makes the period longer", () => {
  const noon = new Date(2026, 2, 2, 12);
  expect(parametersOf({ to_date: "2026-03-01" }, noon).to_date).toBe(
    new Date(2026, 2, 1, 23, 59, 59, 999).toISOString(),
  );
  expect(parametersOf({ to_date: "2026-03-02" }, noon).to_date).toBe(noon.toISOString());
  expect(parametersOf({}, noon).to_date).toBe(noon.toISOString());
  expect(parametersOf({})).toEqual({});
});

test("a day is named by the viewer's calendar, at its first and last moment", () => {
  expect(dayOf(new Date(2026, 0, 9))).toBe("2026-01-09");
  expect(dayOf(new Date(2026, 11, 31, 23, 59, 59, 999))).toBe("2026-12-31");
});
