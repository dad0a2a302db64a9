import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { normalizeVariableName } from "./name.ts";
import { collectValues } from "./values.ts";

describe("collectValues", () => {
  test("dynamic_variables takes precedence over the top level, and both are normalized", () => {
    expect(
      collectValues({
        "Customer Name": "top",
        City: "Oslo",
        dynamic_variables: { customer_name: "named", "Plan!": "pro" },
      }),
    ).toEqual({ customer_name: "named", plan: "pro", city: "Oslo" });
  });

  test("the first of two names with the same key wins", () => {
    expect(collectValues({ dynamic_variables: { "a b": 1, a_b: 2 }, "C-D": 3, c_d: 4 })).toEqual({ a_b: 1, c_d: 3 });
  });

  test("strings, numbers and booleans are values, even empty or false; anything else is left out", () => {
    const kinds = { text: "", zero: 0, no: false, nothing: null, list: ["x"], object: { x: 1 }, missing: undefined };
    expect(collectValues(kinds)).toEqual({ text: "", zero: 0, no: false });
    expect(collectValues({ dynamic_variables: kinds })).toEqual({ text: "", zero: 0, no: false });
  });

  test("a null inside dynamic_variables keeps the top level's value", () => {
    expect(collectValues({ name: "top", dynamic_variables: { name: null } })).toEqual({ name: "top" });
  });

  test.each([[null], [["x"]], [{}], [undefined]])("dynamic_variables %j gives no values", (named) => {
    expect(collectValues({ dynamic_variables: named })).toEqual({});
  });

  test("a name that normalizes to nothing is left out", () => {
    expect(collectValues({ "--": "x", "😀": "y" })).toEqual({});
  });

  test("the names of Object's properties are ordinary names", () => {
    const values = collectValues(JSON.parse('{"__proto__": "p", "constructor": "c", "hasOwnProperty": 1}'));
    expect(Object.entries(values)).toEqual([
      ["proto", "p"],
      ["constructor", "c"],
      ["hasownproperty", 1],
    ]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });

  test("every key is canonical, and collecting again changes nothing", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), (metadata) => {
        const values = collectValues(metadata);
        expect(Object.keys(values)).toEqual(Object.keys(values).map(normalizeVariableName));
        expect(collectValues(values)).toEqual(values);
      }),
    );
  });
});
