import type { Violation } from "@parley/shared/errors";
import { isObject } from "@parley/shared/json/json-object";
import { isLonger } from "@parley/shared/text/length";
import { Kind, type TSchema } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";

const VIOLATIONS_MAX = 20;

/** Describes how a value breaks a schema, in sentences that name the field and the fix; at most 20, in the schema's order. */
export function explain(schema: TSchema, value: unknown, path: string): Violation[] {
  const found: Violation[] = [];
  collect(schema, value, path, found);
  return found.slice(0, VIOLATIONS_MAX);
}

function collect(schema: TSchema, value: unknown, path: string, found: Violation[]): void {
  if (found.length >= VIOLATIONS_MAX || Check(schema, value)) return;
  const name = path === "" ? "The request" : path;
  const say = (message: string) => found.push({ path, message: `${name} ${message}` });
  if (value === undefined) {
    say("is required");
    return;
  }
  switch (schema[Kind]) {
    case "Union":
      explainUnion(schema, value, path, found, say);
      return;
    case "Object":
      if (!isObject(value)) say("must be an object");
      else explainObject(schema, value, path, found);
      return;
    case "Array":
      explainArray(schema, value, path, found, say);
      return;
    case "Record":
      if (!isObject(value)) say("must be an object");
      else explainRecord(schema, value, path, found);
      return;
    default:
      say(requirement(schema, value));
  }
}

function explainObject(schema: TSchema, value: Record<string, unknown>, path: string, found: Violation[]): void {
  const before = found.length;
  for (const [key, property] of Object.entries<TSchema>(schema.properties)) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given === undefined && !schema.required?.includes(key)) continue;
    collect(property, given, at(path, key), found);
  }
  if (schema.additionalProperties === false) {
    const allowed = Object.keys(schema.properties);
    for (const key of Object.keys(value)) {
      if (allowed.includes(key)) continue;
      found.push({ path: at(path, key), message: `${at(path, key)} is not allowed: ${allowedInstead(allowed)}` });
    }
  }
  if (found.length === before) found.push({ path, message: `${path === "" ? "The request" : path} is not valid` });
}

function allowedInstead([only, ...others]: readonly string[]): string {
  if (only === undefined) return "it must be empty";
  return others.length === 0 ? `only ${only} is` : `allowed are ${[only, ...others].join(", ")}`;
}

function explainArray(
  schema: TSchema,
  value: unknown,
  path: string,
  found: Violation[],
  say: (message: string) => void,
): void {
  if (!Array.isArray(value)) say("must be an array");
  else if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    say(schema.maxItems === 0 ? "must be empty" : `must have at most ${schema.maxItems} items`);
  else if (value.length < (schema.minItems ?? 0))
    say(schema.minItems === 1 ? "must not be empty" : `must have at least ${schema.minItems} items`);
  else for (const [index, item] of value.entries()) collect(schema.items, item, at(path, String(index)), found);
}

function explainRecord(schema: TSchema, value: Record<string, unknown>, path: string, found: Violation[]): void {
  const [item] = Object.values<TSchema>(schema.patternProperties);
  for (const [key, given] of Object.entries(value)) if (item) collect(item, given, at(path, key), found);
}

/** Explains the form of a union whose fixed fields the value has; otherwise lists all forms. */
function explainUnion(
  schema: TSchema,
  value: unknown,
  path: string,
  found: Violation[],
  say: (message: string) => void,
): void {
  const forms: TSchema[] = schema.anyOf.filter((form: TSchema) => form[Kind] !== "Null");
  const literals = forms.filter((form) => form[Kind] === "Literal");
  if (literals.length === forms.length) {
    say(`must be one of ${literals.map((form) => String(form.const)).join(", ")}`);
    return;
  }
  const type = typeOf(value);
  const sameType = forms.filter(
    (form) =>
      !isFixed(form) &&
      (form.type === undefined || form.type === type || (form.type === "integer" && type === "number")),
  );
  const meant =
    sameType.find((form) => isObject(value) && hasFixed(form) && fixedFieldsMatch(form, value)) ??
    sameType.find((form) => !hasFixed(form)) ??
    sameType[0];
  if (meant) collect(meant, value, path, found);
  else say(`must ${schema.form ?? `be ${[...new Set(forms.map(requirementOf))].join(" or ")}`}`);
}

function hasFixed(form: TSchema): boolean {
  return Object.values<TSchema>(form.properties ?? {}).some(isFixed);
}

function fixedFieldsMatch(form: TSchema, value: Record<string, unknown>): boolean {
  const fixed = Object.entries<TSchema>(form.properties).filter(([, property]) => isFixed(property));
  return fixed.every(([key, property]) => Check(property, value[key]));
}

function isFixed(schema: TSchema): boolean {
  return (
    schema[Kind] === "Literal" ||
    (schema[Kind] === "Union" && schema.anyOf.every((form: TSchema) => form[Kind] === "Literal"))
  );
}

function requirement(schema: TSchema, value: unknown): string {
  const { minLength, maxLength, minimum, maximum } = schema;
  if (schema[Kind] === "Literal") return `must be ${requirementOf(schema)}`;
  if (schema[Kind] === "VariableValue") return "must be at most 16 KiB of JSON";
  if (typeof value === "string" && schema.type === "string") {
    if (minLength && value.length < minLength) {
      return minLength === 1 ? "must not be empty" : `must be at least ${minLength} characters`;
    }
    if (maxLength !== undefined && isLonger(value, maxLength)) return `must be at most ${maxLength} characters`;
    return `must ${schema.form ?? "have the form described in the documentation"}`;
  }
  if (typeof value === "number" && (schema.type === "integer" || schema.type === "number")) {
    if (schema.type === "integer" && !Number.isInteger(value)) return "must be an integer";
    if (minimum !== undefined && maximum !== undefined) return `must be between ${minimum} and ${maximum}`;
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    return `must be at most ${maximum}`;
  }
  return `must be ${requirementOf(schema)}`;
}

function requirementOf(schema: TSchema): string {
  if (schema[Kind] === "Literal") return String(schema.const);
  if (isFixed(schema)) return `one of ${schema.anyOf.map((form: TSchema) => form.const).join(", ")}`;
  return TYPE_NAMES[schema.type as string] ?? "of another type";
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Every message repeats the field's name, which may be a megabyte long. */
const NAME_SHOWN_MAX = 200;

function at(path: string, key: string): string {
  const name = key.length > NAME_SHOWN_MAX ? `${key.slice(0, NAME_SHOWN_MAX).toWellFormed()}…` : key;
  return path === "" ? name : `${path}.${name}`;
}
