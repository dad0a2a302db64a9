import { expect, test } from "bun:test";
import { toldAnew } from "./answer.ts";

const told = JSON.stringify({ status: "packed", delivery: { day: "Friday" } });

test("what a model was told before lacks the fields that the tool's filter has come to leave out", () => {
  expect(toldAnew(told, { result: { keep: ["/status"], hide: false } })).toBe('{"status":"packed"}');
  expect(toldAnew(told, { result: { keep: ["/delivery/day", "/carrier"], hide: false } })).toBe(
    '{"delivery":{"day":"Friday"}}',
  );
  expect(toldAnew(told, { result: { keep: [], hide: true } })).toBe("The request succeeded.");
});

test("what a model was told before stays as it is with the same filter, with none, and where a filter has nothing to leave out", () => {
  for (const keep of [[], ["/status", "/delivery"], ["/carrier"], ["/status", "/items/2"]])
    expect(toldAnew(told, { result: { keep, hide: false } })).toBe(told);
  expect(toldAnew(told, { result: undefined })).toBe(told);
  expect(toldAnew("Shipped", { result: { keep: ["/status"], hide: false } })).toBe("Shipped");
});
