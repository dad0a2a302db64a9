import { expect, test } from "bun:test";
import { dollarsOf } from "../../ui/numbers.ts";
import { costOf, unknownNote } from "./costs.ts";

test.each([
  ["no replies", { replies: 0, cost_usd_micros: 0, unpriced_replies: 0 }, "–", null],
  ["free replies", { replies: 2, cost_usd_micros: 0, unpriced_replies: 0 }, dollarsOf(0), null],
  ["priced replies", { replies: 2, cost_usd_micros: 12_720, unpriced_replies: 0 }, dollarsOf(12_720), null],
  [
    "some unpriced replies",
    { replies: 2, cost_usd_micros: 29, unpriced_replies: 1 },
    dollarsOf(29),
    "unknown for 1 reply",
  ],
  [
    "unpriced replies alone",
    { replies: 2, cost_usd_micros: 0, unpriced_replies: 2 },
    "Unknown",
    "unknown for 2 replies",
  ],
])("the cost of %s is unknown only where it is not known, and never zero then", (_, costs, cost, note) => {
  expect([costOf(costs), unknownNote(costs)]).toEqual([cost, note]);
});

test("dollars are shown to the cent, and smaller amounts to two digits", () => {
  const digits = (usdMicros: number) => dollarsOf(usdMicros).replaceAll(/[^\d]/g, "");
  const shown = { 0: "000", 29: "0000029", 12720: "0013", 50000: "005", 99600: "010", 500000: "050", 1234567: "123" };
  for (const [usdMicros, expected] of Object.entries(shown)) expect(digits(Number(usdMicros))).toBe(expected);
});
