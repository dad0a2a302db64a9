import type { FieldType } from "@parley/shared/domain/analysis/notation";
import { isObject } from "@parley/shared/json/json-object";
import { storable } from "../store/storable.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A field's value, or the reason why it has none. */
export type FieldValue = { value: Json } | { error: string };

/** No real data nests deeper than this. */
const DEPTH_MAX = 32;

/** Accepts a model's value for a field only if it has the field's type; never coerces. */
export function readField(type: FieldType, given: unknown): FieldValue {
  const value = typedValue(type, given);
  if (value !== undefined) return { value };
  return { error: given === undefined ? "the model left it out" : `the model gave ${nameOf(given)} instead` };
}

/** Returns undefined when the value has another type. */
function typedValue(type: FieldType, given: unknown): Json | undefined {
  switch (type.kind) {
    case "str":
      return typeof given === "string" ? textOf(given) : undefined;
    case "int":
      return Number.isInteger(given) ? (given as number) : undefined;
    case "float":
      return Number.isFinite(given) ? (given as number) : undefined;
    case "bool":
      return typeof given === "boolean" ? given : undefined;
    case "literal":
      return type.words.includes(given as string) ? (given as string) : undefined;
    case "optional":
      return given === null || given === undefined ? null : typedValue(type.of, given);
    case "list":
      return Array.isArray(given) ? allOf(given.map((item) => typedValue(type.of, item))) : undefined;
    case "dict":
      return dictOf(given);
  }
}

function allOf(values: (Json | undefined)[]): Json[] | undefined {
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Accepts an object or a list of pairs, the form in which a dict is requested (`toJsonSchema`); the last pair of a key wins. */
function dictOf(given: unknown): Json | undefined {
  if (!Array.isArray(given)) return isObject(given) ? jsonOf(given, 0) : undefined;
  if (!given.every((pair) => isObject(pair) && typeof pair.key === "string" && "value" in pair)) return undefined;
  return jsonOf(Object.fromEntries(given.map(({ key, value }) => [key, value])), 0);
}

/** Drops what cannot be stored. */
function jsonOf(given: unknown, depth: number): Json | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (typeof given === "string") return textOf(given);
  if (typeof given === "number") return Number.isFinite(given) ? given : undefined;
  if (Array.isArray(given)) return allOf(given.map((item) => jsonOf(item, depth + 1)));
  if (!isObject(given)) return given as boolean | null;
  const entries = Object.entries(given).filter(([key]) => key !== "__proto__");
  const values = allOf(entries.map(([, value]) => jsonOf(value, depth + 1)));
  return values && Object.fromEntries(entries.map(([key], at) => [textOf(key), values[at] ?? null]));
}

/** A JSON column cannot store NUL or a lone surrogate. */
function textOf(text: string): string {
  return storable(text).toWellFormed();
}

function nameOf(given: unknown): string {
  if (given === null) return "null";
  if (Array.isArray(given)) return "a list";
  return isObject(given) ? "an object" : JSON.stringify(given).slice(0, 100).toWellFormed();
}
