import { describe, expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import type { FieldType } from "./grammar.ts";
import { compileTexts, type VariableDefinition } from "./template.ts";
import { collectValues } from "./values.ts";

describe("definitions", () => {
  test("an agent without variables has none", () => {
    expect(definitionsOf("Hello", "")).toEqual([]);
    expect(definitionsOf()).toEqual([]);
  });

  test("spellings with the same key are one variable, in reading order over both texts", () => {
    const definitions = definitionsOf("{{ b }} {{Customer Name}} {{customer_name}}", "{{ a }} {{ B }}");
    expect(definitions.map((definition) => definition.variableName)).toEqual(["b", "customer_name", "a"]);
  });

  test("a variable is required when it has no default anywhere", () => {
    const definitions = definitionsOf('{{a}} {{b}} {{c | ""}} {{d}} {{d | x}}', "{{b | x}} {{c}}");
    expect(definitions.map(({ variableName, required }) => [variableName, required])).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
      ["d", false],
    ]);
  });

  test("the first type and the first description count, even if they come from different places", () => {
    expect(definitionsOf("{{x}} {{x: NUMBER}}", "{{x: EMAIL: First}} {{x: PHONE: Second}}")).toEqual([
      { variableName: "x", required: true, fieldType: "NUMBER", description: "First" },
    ]);
  });

  test.each<[string, FieldType]>([
    ["email", "EMAIL"],
    ["customer_email_address", "EMAIL"],
    ["phone", "PHONE"],
    ["mobile_number", "PHONE"],
    ["email_or_phone", "EMAIL"],
    ["order_number", "NUMBER"],
    ["amount", "NUMBER"],
    ["item_count", "NUMBER"],
    ["age", "NUMBER"],
    ["unit_price", "NUMBER"],
    ["quantity", "NUMBER"],
    ["total", "NUMBER"],
    ["Order Total", "NUMBER"],
    ["message", "STRING"],
    ["emails", "STRING"],
    ["page", "STRING"],
    ["constructor", "STRING"],
  ])("an untyped %s is inferred from its whole words: %s", (name, fieldType) => {
    expect(definitionsOf(`{{${name}}}`)[0]?.fieldType).toBe(fieldType);
  });

  test("a written type takes precedence over an inferred one", () => {
    expect(definitionsOf("{{ age: STRING }}")[0]?.fieldType).toBe("STRING");
  });

  test("a missing description is made from the key", () => {
    expect(definitionsOf("{{ CUSTOMER-name }} {{ 2nd_line: STRING: }}").map((d) => d.description)).toEqual([
      "Customer name",
      "2nd line",
    ]);
  });
});

function definitionsOf(...texts: readonly string[]): VariableDefinition[] {
  return compileTexts(texts).definitions;
}

describe("fill", () => {
  test.each([
    ["Hi {{name}}!", { name: "Ann" }, "Hi Ann!"],
    ["Hi {{Customer Name}}!", { customer_name: "Ann" }, "Hi Ann!"],
    ["Hi {{customer_name}}!", { "  CUSTOMER name ": "Ann" }, "Hi Ann!"],
    ["{{a b}}", { "a-b": "first", a_b: "second" }, "first"],
    ["{{n}} {{t}} {{f}}", { n: 1.5, t: true, f: false }, "1.5 true false"],
    ["Hi {{name}}!", {}, "Hi !"],
    ["Hi {{name | there}}!", {}, "Hi there!"],
    ["Hi {{name | there}}!", { name: "Ann" }, "Hi Ann!"],
    ["Hi {{name | there}}!", { name: "" }, "Hi !"],
    ["{{x}} {{x | 1}} {{x | 2}}", {}, "1 1 1"],
    ['{{x | ""}}{{x | 2}}', {}, ""],
    ["{{x | 1.50}}", {}, "1.50"],
    ["{{constructor}}{{__proto__}}{{toString}}", {}, ""],
    ["{{constructor}} {{__proto__}}", JSON.parse('{"constructor":"c","__proto__":"p"}'), "c p"],
    ["{{x}}", { x: "$& $1 {{x}} {{y}}", y: "no" }, "$& $1 {{x}} {{y}}"],
    ['{{x | "{{y}}"}}', { y: "no" }, "{{y}}"],
    ["{{{x}}}", { x: "{{x}}" }, "{{{x}}}"],
    ["{{ }} {{x: WHAT}} {{ y", { x: 1, y: 2 }, "{{ }} {{x: WHAT}} {{ y"],
  ])("%j with %j is %j", (text, values, filled) => {
    expect(compileTexts([text]).fill(0, values)).toBe(filled);
  });

  test("a default in either text applies to both, and the prompt's comes first", () => {
    const template = compileTexts(["{{a}} {{b | prompt}}", "{{a | greeting}} {{b | greeting}}"]);
    expect(template.fill(0, {})).toBe("greeting prompt");
    expect(template.fill(1, {})).toBe("greeting prompt");
  });

  test("a value that metadata gives as null counts as missing", () => {
    expect(compileTexts(["{{x | none}}"]).fill(0, collectValues({ dynamic_variables: { x: null } }))).toBe("none");
  });

  test("an index without a text throws", () => {
    expect(() => compileTexts(["a"]).fill(1, {})).toThrow(new RangeError("No text 1: 1 were compiled"));
  });

  const anyText = fc.string({
    unit: fc.constantFrom("{", "{{", "}}", "|", ":", '"', "\\", "a", "b", " ", "\n", "é", "EMAIL"),
  });
  const anyValues = fc.dictionary(anyText, fc.oneof(anyText, fc.double(), fc.boolean()));

  test("a text is filled up to its limit, and one character more is refused", () => {
    fc.assert(
      fc.property(anyText, anyValues, fc.nat(60), (text, values, max) => {
        const template = compileTexts([text]);
        const whole = template.fill(0, values) ?? "";
        expect(template.fill(0, values, max)).toBe(whole.length <= max ? whole : null);
      }),
    );
    expect(compileTexts(["{{x}}".repeat(100_000)]).fill(0, { x: "x".repeat(1_000_000) }, 1_000_000)).toBeNull();
  });

  test("the first default in reading order applies to every spelling in both texts", () => {
    const parts = fc.array(
      fc.record({ key: fc.constantFrom("a", "b"), given: fc.option(fc.constantFrom("1", "2", "3")) }),
    );
    fc.assert(
      fc.property(parts, parts, (prompt, greeting) => {
        const write = (each: typeof prompt) =>
          each.map(({ key, given }) => `{{ ${key} ${given === null ? "" : `| ${given}`} }}`).join("");
        const defaultOf = (key: string) =>
          [...prompt, ...greeting].find((part) => part.key === key && part.given !== null)?.given ?? "";
        const template = compileTexts([write(prompt), write(greeting)]);
        const expected = (each: typeof prompt) => each.map(({ key }) => defaultOf(key)).join("");
        expect([template.fill(0, {}), template.fill(1, {})]).toEqual([expected(prompt), expected(greeting)]);
      }),
    );
  });

  test("a value is kept verbatim, whatever it contains", () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(compileTexts(["<{{x}}>"]).fill(0, { x: value, a: "no", b: "no" })).toBe(`<${value}>`);
      }),
    );
  });

  test("filling never throws, whatever the texts and values", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: anyCharacter })), anyValues, (text, values) => {
        expect(compileTexts([text]).fill(0, values)).toBeString();
      }),
    );
  });

  test("a text without two opening braces is unchanged", () => {
    fc.assert(
      fc.property(anyText, anyValues, (text, values) => {
        const plain = text.replaceAll("{{", "");
        fc.pre(!plain.includes("{{"));
        expect(compileTexts([plain]).fill(0, values)).toBe(plain);
      }),
    );
  });

  test("filling texts joined by plain words gives the filled texts, joined", () => {
    const whole = fc
      .array(fc.constantFrom("{{a}}", "{{ B | x }}", '{{c: EMAIL: d | "}}"}}', "{{ }}", "{{a: WHAT}}", "{", "}", "é "))
      .map((parts) => parts.join(" "));
    fc.assert(
      fc.property(whole, whole, anyValues, (left, right, values) => {
        const apart = compileTexts([left, right]);
        const joined = compileTexts([`${left} and ${right}`]);
        expect(joined.fill(0, values)).toBe(`${apart.fill(0, values)} and ${apart.fill(1, values)}`);
        expect(joined.definitions).toEqual(apart.definitions);
      }),
    );
  });
});

test("names of other scripts are variables of their own, and none gets another one's value", () => {
  const prompt = "{{größe}} / {{Grüße}} | {{имя 1}} {{фамилия 1}} | {{имя}}";
  const values = { größe: "XL", Grüße: "LG", "имя 1": "Иван", "фамилия 1": "Петров", имя: "Иван" };
  const template = compileTexts([prompt]);
  expect(template.definitions.map(({ variableName }) => variableName)).toEqual([
    "größe",
    "grüße",
    "имя_1",
    "фамилия_1",
    "имя",
  ]);
  expect(template.fill(0, values)).toBe("XL / LG | Иван Петров | Иван");
});

test("a system variable is in no list of definitions, and has neither a default nor another text than its value", () => {
  const template = compileTexts(["{{ System Time | never }}|{{system_unknown | never}}|{{name | nobody}}"]);
  expect(template.definitions.map(({ variableName }) => variableName)).toEqual(["name"]);
  expect(template.fill(0, { system_time: "noon" })).toBe("noon||nobody");
});
