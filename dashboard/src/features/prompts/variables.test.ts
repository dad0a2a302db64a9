import { expect, test } from "bun:test";
import { filled, variablesIn } from "./variables.ts";

test("variables are listed once, in reading order, with their first default and description", () => {
  const texts = [
    "{{Customer Name}} at {{company | Acme}}",
    '{{hours : STRING : when it is open | "9 to 5"}} {{company | B}}',
  ];
  expect(variablesIn(...texts)).toEqual([
    { name: "customer_name", defaultValue: null, description: "" },
    { name: "company", defaultValue: "Acme", description: "" },
    { name: "hours", defaultValue: "9 to 5", description: "when it is open" },
  ]);
});

test("text that is not a placeholder is kept", () => {
  const text = '{"a": {}} {{}} {{ : STRING}} {{x : UNKNOWN}} {{y | }}';
  expect(variablesIn(text)).toEqual([]);
  expect(filled(text, [], {})).toBe(text);
});

test("a value fills its variable however the name is written, and is not expanded itself", () => {
  const text = "Hello {{Customer Name | you}}, {{customer_name}}!";
  const variables = variablesIn(text);
  expect(filled(text, variables, { customer_name: "{{company}}" })).toBe("Hello {{company}}, {{company}}!");
  expect(filled(text, variables, {})).toBe("Hello you, you!");
});

test("names keep the letters of every script, so that no value fills another name's place", () => {
  const text = "{{größe}} / {{Grüße}} | {{имя 1}} {{фамилия 1}} | {{имя}} {{❤️}}";
  const variables = variablesIn(text);
  expect(variables.map(({ name }) => name)).toEqual(["größe", "grüße", "имя_1", "фамилия_1", "имя"]);
  expect(filled(text, variables, { größe: "XL", grüße: "LG", имя_1: "A", фамилия_1: "B", имя: "C" })).toBe(
    "XL / LG | A B | C {{❤️}}",
  );
});
