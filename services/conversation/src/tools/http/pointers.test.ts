import { describe, expect, test } from "bun:test";
import { keptOf, valueAt } from "./pointers.ts";

/** The document of RFC 6901, section 5. */
const RFC = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

describe("a JSON pointer", () => {
  test.each<[string, unknown]>([
    ["", RFC],
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
  ])("%j leads to the value that RFC 6901 names", (pointer, expected) => {
    expect(valueAt(RFC, pointer)).toEqual(expected);
  });

  test.each(["/foo/2", "/foo/-", "/foo/00", "/foo/length", "/none", "/constructor", "/__proto__", "/foo/0/0"])(
    "%j leads to nothing in a document without such a value",
    (pointer) => {
      expect(valueAt(RFC, pointer)).toBeUndefined();
    },
  );
});

describe("a filtered answer", () => {
  const order = {
    id: 7,
    lines: [
      { sku: "a", cost: 1 },
      { sku: "b", cost: 2 },
    ],
    customer: { name: "Ada", iban: "x" },
  };

  test.each<[string[], unknown]>([
    [["/id"], { id: 7 }],
    [["/customer/name", "/id"], { id: 7, customer: { name: "Ada" } }],
    [["/lines/1/sku"], { lines: [{ sku: "b" }] }],
    [["/lines/1/sku", "/lines/0"], { lines: [{ sku: "a", cost: 1 }, { sku: "b" }] }],
    [["/customer", "/customer/name"], { customer: { name: "Ada", iban: "x" } }],
    [["/id", "/gone"], { id: 7 }],
    [[""], order],
    [["/gone"], undefined],
    [[], undefined],
  ])("that keeps %j has what the pointers lead to, and nothing else", (pointers, expected) => {
    expect(keptOf(order, pointers)).toEqual(expected);
  });

  test("that is a text has nothing at a pointer", () => {
    expect(keptOf("paid", ["/status"])).toBeUndefined();
  });
});
