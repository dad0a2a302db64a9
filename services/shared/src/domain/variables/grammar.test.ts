import { describe, expect, spyOn, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { PLACEHOLDERS_MAX, type Placeholder, parseText } from "./grammar.ts";
import { normalizeVariableName } from "./name.ts";

function placeholder(key: string, parts: Partial<Placeholder> = {}): Placeholder {
  return { key, fieldType: null, description: null, defaultText: null, ...parts };
}

describe("a placeholder is read", () => {
  test.each<[string, Placeholder]>([
    // Name.
    ["{{name}}", placeholder("name")],
    ["{{ Customer Name }}", placeholder("customer_name")],
    ["{{\n  customer\n  name\n}}", placeholder("customer_name")],
    ["{{\u00A0name\u00A0}}", placeholder("name")],
    ["{{ ＮＡＭＥ }}", placeholder("name")],
    ["{{ __proto__ }}", placeholder("proto")],
    ["{{ constructor }}", placeholder("constructor")],
    // Type, in any case.
    ["{{ x: STRING }}", placeholder("x", { fieldType: "STRING" })],
    ["{{x:number}}", placeholder("x", { fieldType: "NUMBER" })],
    ["{{ x :\n Email\n}}", placeholder("x", { fieldType: "EMAIL" })],
    ["{{ x: pHONE }}", placeholder("x", { fieldType: "PHONE" })],
    // Description.
    ["{{ x: STRING: The plan }}", placeholder("x", { fieldType: "STRING", description: "The plan" })],
    ["{{x:STRING:At 12:30}}", placeholder("x", { fieldType: "STRING", description: "At 12:30" })],
    ['{{x:STRING:The "one"}}', placeholder("x", { fieldType: "STRING", description: 'The "one"' })],
    ["{{x:STRING: over\n   two lines}}", placeholder("x", { fieldType: "STRING", description: "over two lines" })],
    ["{{x:STRING: }}", placeholder("x", { fieldType: "STRING" })],
    ["{{x:STRING: yes | no}}", placeholder("x", { fieldType: "STRING", description: "yes", defaultText: "no" })],
    // Default.
    ['{{ x | "a friend" }}', placeholder("x", { defaultText: "a friend" })],
    ['{{x|""}}', placeholder("x", { defaultText: "" })],
    ['{{x|"}} | : {{y}}"}}', placeholder("x", { defaultText: "}} | : {{y}}" })],
    ['{{x|"a \\"b\\" \\\\"}}', placeholder("x", { defaultText: 'a "b" \\' })],
    ['{{x|"\\u00e9\\n"}}', placeholder("x", { defaultText: "é\n" })],
    ['{{ x |\n "a"\n }}', placeholder("x", { defaultText: "a" })],
    ["{{ x | friend }}", placeholder("x", { defaultText: "friend" })],
    ["{{ x | José }}", placeholder("x", { defaultText: "José" })],
    ["{{ x | 12:30 }}", placeholder("x", { defaultText: "12:30" })],
    ["{{ x | -1.50 }}", placeholder("x", { defaultText: "-1.50" })],
    ["{{ x | 12345678901234567890 }}", placeholder("x", { defaultText: "12345678901234567890" })],
    ["{{ x | true }}", placeholder("x", { defaultText: "true" })],
    ["{{ x | false }}", placeholder("x", { defaultText: "false" })],
    [
      '{{ x: NUMBER: How many | "3" }}',
      placeholder("x", { fieldType: "NUMBER", description: "How many", defaultText: "3" }),
    ],
    ["{{ x: NUMBER | 3 }}", placeholder("x", { fieldType: "NUMBER", defaultText: "3" })],
  ])("%j", (text, expected) => {
    expect(parseText(text)).toEqual([expected]);
  });
});

describe("a placeholder that follows the rules is read as written", () => {
  const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\u00a0"), maxLength: 3 });
  const inOrder = <T>(part: fc.Arbitrary<T>) => fc.tuple(space, part, space);
  const name = fc
    .array(
      fc.string({ unit: fc.constantFrom("a", "Z", "7", "é", "ﬁ", "-", "_", " ", "名"), minLength: 1, maxLength: 6 }),
    )
    .map((words) => words.join(" "))
    .filter((written) => normalizeVariableName(written) !== "");
  const type = fc
    .constantFrom("STRING", "NUMBER", "EMAIL", "PHONE")
    .chain((fieldType) =>
      fc.constantFrom(fieldType, fieldType.toLowerCase()).map((written) => ({ fieldType, written })),
    );
  const description = fc.string({ unit: fc.constantFrom("a", "É", ":", '"', "\\", " ", "\n"), maxLength: 12 });
  const word = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "9", ".", "-", ":", "é", "\\"), minLength: 1, maxLength: 8 }),
    fc.double().map(String),
    fc.boolean().map(String),
  );
  const defaultValue = fc.oneof(
    word.map((text) => ({ text, written: text })),
    fc.string({ unit: anyCharacter }).map((text) => ({ text, written: JSON.stringify(text) })),
    fc.constantFrom("}}", "{{x}}", "|", ":", '"').map((text) => ({ text, written: JSON.stringify(text) })),
  );
  const optional = <T>(part: fc.Arbitrary<T>) => fc.option(inOrder(part), { nil: null });
  const typed = optional(type);

  test("name, type, description and default are read between any plain texts, with white space wherever it is allowed", () => {
    const plain = fc.string({ unit: fc.constantFrom("a", " ", "}", "|", ":", '"', "\n") });
    fc.assert(
      fc.property(plain, inOrder(name), typed, optional(description), optional(defaultValue), plain, (...parts) => {
        const [before, named, type, described, defaulted, after] = parts;
        const joined = ([left, part, right]: [string, string, string]) => left + part + right;
        let written = joined(named);
        if (type) written += `:${joined([type[0], type[1].written, type[2]])}`;
        if (type && described) written += `:${joined(described)}`;
        if (defaulted) written += `|${joined([defaulted[0], defaulted[1].written, defaulted[2]])}`;
        const expected = {
          key: normalizeVariableName(named[1]),
          fieldType: type?.[1].fieldType ?? null,
          description: (type && described?.[1].trim().replace(/\s+/g, " ")) || null,
          defaultText: defaulted?.[1].text ?? null,
        };
        const pieces = [before, expected, after].filter((piece) => piece !== "");
        expect(parseText(`${before}{{${written}}}${after}`) as unknown[]).toEqual(pieces);
      }),
    );
  });
});

describe("what does not match the syntax is plain text", () => {
  test.each([
    // Names that normalize to nothing.
    "{{}}",
    "{{ }}",
    "{{ _ }}",
    "{{ 😀 }}",
    "{{ : NUMBER }}",
    '{{ | "x" }}',
    // Braces.
    "{{",
    "{{ x",
    "{{ x }",
    "{ { x } }",
    "{{ x } }",
    "}} x {{",
    "{{ x } y }}",
    "{{ x: STRING: a } b }}",
    // Types.
    "{{ x: INTEGER }}",
    "{{ x: }}",
    "{{ x:: What it is }}",
    '{{"ok": true}}',
    '{{\n  "name": "string",\n  "age": 3\n}}',
    "style={{ color: 'red' }}",
    // Defaults.
    "{{ x | }}",
    "{{ x | two words }}",
    "{{ x | a | b }}",
    '{{ x | "a" b }}',
    '{{ x | "a }}',
    '{{ x | "a\nb" }}',
    '{{ x | "\\q" }}',
    '{{ x | "\\',
    '{{ x | a"b }}',
    '{{ x | { "a": 1 } }}',
    '{{ x | join(", ") }}',
  ])("%j", (text) => {
    expect(parseText(text)).toEqual([text]);
  });
});

describe("text around a placeholder is kept", () => {
  test.each<[string, (string | Placeholder)[]]>([
    ["Hi {{x}}, bye", ["Hi ", placeholder("x"), ", bye"]],
    ["{{x}}{{y}}", [placeholder("x"), placeholder("y")]],
    ["{{{x}}}", ["{", placeholder("x"), "}"]],
    ["{{{{x}}}}", ["{{", placeholder("x"), "}}"]],
    ["{{ x {{ y }} }}", ["{{ x ", placeholder("y"), " }}"]],
    ["{{ x\nand {{ y }}", ["{{ x\nand ", placeholder("y")]],
    ['{{ x | "open {{ y }}', ['{{ x | "open ', placeholder("y")]],
    ["{{ x: WHAT }}{{ y }}", ["{{ x: WHAT }}", placeholder("y")]],
  ])("%j", (text, expected) => {
    expect(parseText(text)).toEqual(expected);
  });

  test("an empty text has no pieces", () => {
    expect(parseText("")).toEqual([]);
  });

  test("any string is parsed without throwing, and one without braces is unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const plain = text.replaceAll("{", "");
        expect(parseText(plain)).toEqual(plain === "" ? [] : [plain]);
        parseText(text);
      }),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("{", "{{", "}", "}}", "|", ":", '"', "\\", "a", " ", "STRING") }),
        (text) => {
          parseText(text);
        },
      ),
    );
  });
});

describe("a hostile text is read in linear time", () => {
  const length = 2 ** 16;

  test.each([
    "{{",
    "{{a",
    "{{a:",
    "{{a:STRING",
    "{{a:STRING:",
    "{{a|",
    "{{a|  ",
    '{{a|"',
    '{{a|"\\"',
    '{{a| "\\\\',
    '{{a|"b"',
    '{{a|"b" {{',
    "{{a|b ",
    "{{a}",
    "{{a}}",
    "{ ",
    "}}",
  ])("each character of %j, repeated, is read at most five times", (unit) => {
    expectLinear(unit.repeat(length / unit.length));
  });

  test.each(["{{", '{{a|"', '{{a|"\\', "{{a:STRING:", "{{a|"])(
    "%j before any long text is read in one scan",
    (start) => {
      for (const unit of [" ", "a", "\\", '\\"', "|", ":", "}", "{"])
        expectLinear(start + unit.repeat(length / unit.length));
    },
  );
});

function expectLinear(text: string): void {
  const looks = looksAtCharacters(() => parseText(text, Number.POSITIVE_INFINITY));
  expect(looks).toBeGreaterThanOrEqual(text.length);
  expect(looks).toBeLessThanOrEqual(5 * text.length);
}

test("of a text, the first thousand braces that may begin a placeholder are read, and what follows is plain text", () => {
  const read = (text: string) => parseText(text).filter((piece) => typeof piece !== "string").length;
  for (const before of ["{{a}}", "{{ no placeholder ", "{{a:NOTHING}}", "{{{{{ "]) {
    expect(read(`${before.repeat(PLACEHOLDERS_MAX - 1)}{{b}}`)).toBe(before === "{{a}}" ? PLACEHOLDERS_MAX : 1);
    expect(parseText(`${before.repeat(PLACEHOLDERS_MAX)}{{b}}`).at(-1)).toEndWith("{{b}}");
  }
  expect(read(`${"{".repeat(500_000)}a}}`)).toBe(1);
});

/** Counts the characters that the parser passes over, by a one-character pattern or by indexOf. */
function looksAtCharacters(run: () => void): number {
  let looks = 0;
  const { exec } = RegExp.prototype;
  const { indexOf } = String.prototype;
  const execSpy = spyOn(RegExp.prototype, "exec").mockImplementation(function (this: RegExp, text: string) {
    const from = this.lastIndex;
    const match = exec.call(this, text);
    looks += (match?.index ?? text.length) - from + 1;
    return match;
  });
  const indexOfSpy = spyOn(String.prototype, "indexOf").mockImplementation(function (
    this: string,
    part: string,
    from = 0,
  ) {
    const index = indexOf.call(this, part, from);
    looks += (index === -1 ? this.length : index) - from + 1;
    return index;
  });
  try {
    run();
  } finally {
    execSpy.mockRestore();
    indexOfSpy.mockRestore();
  }
  return looks;
}
