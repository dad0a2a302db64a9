import { describe, expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
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

  const kinds = { text: "", zero: 0, no: false, nothing: null, list: ["x"], object: { x: 1 }, missing: undefined };

  test("dynamic_variables hold any JSON value but null, even one that is empty or false", () => {
    const { nothing: _, missing: __, ...values } = kinds;
    expect(collectValues({ dynamic_variables: kinds })).toEqual(values);
  });

  test("at the top level of metadata, lists and objects are no variables", () => {
    expect(collectValues(kinds)).toEqual({ text: "", zero: 0, no: false });
  });

  test("a list or an object of more than 16 KiB is refused with its name, and a long text is not", () => {
    const long = "x".repeat(16 * 1024);
    expect(collectValues({ dynamic_variables: { long } })).toEqual({ long });
    for (const value of [[long], { long }]) {
      expect(() => collectValues({ dynamic_variables: { order: value } })).toThrow(
        "dynamic_variables.order must be at most 16 KiB of JSON",
      );
    }
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
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (metadata) => {
        const values = collectValues(metadata);
        expect(Object.keys(values)).toEqual(Object.keys(values).map(normalizeVariableName));
        expect(collectValues({ dynamic_variables: values })).toEqual(values);
      }),
    );
  });
});

test("what a client gives for a system variable does not count", () => {
  const metadata = { dynamic_variables: { "System Time": "noon", name: "Ada" }, system_caller: "+1" };
  expect(collectValues(metadata)).toEqual({ name: "Ada" });
});
