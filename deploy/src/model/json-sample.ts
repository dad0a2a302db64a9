import { sampleNumber, sampleString } from "./json-scalar.ts";
import { isObject, type JsonObject } from "./read-json.ts";

/** Schemas may branch without end; past this many places the sampler gives up. */
const PLACES_MAX = 5_000;

type Walk = { root: unknown; phrase: string; places: number };

/**
 * A value of the JSON Schema, always the same one, its strings made of `phrase`; undefined when none is found.
 * Knows type, enum, const, properties, required, items, prefixItems, anyOf, oneOf, allOf, local $ref and the bounds of
 * numbers, strings and arrays; reads over everything else (pattern, uniqueItems, not, if).
 */
export function sampleJson(schema: unknown, phrase: string): unknown {
  return sample(schema, { root: schema, phrase, places: 0 }, ["#"]);
}

/** `refs` are the references being followed: some value of a recursive schema never repeats one on its way down. */
function sample(schema: unknown, walk: Walk, refs: readonly string[]): unknown {
  walk.places += 1;
  if (walk.places > PLACES_MAX) return undefined;
  if (schema === true) return walk.phrase;
  if (!isObject(schema)) return undefined;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null) ?? schema.enum[0];
  if (typeof schema.$ref === "string") return sampleRef(schema.$ref, schema, walk, refs);
  if (Array.isArray(schema.allOf)) return sample(schema.allOf.reduce(merge, without(schema, "allOf")), walk, refs);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) {
    const rest = without(schema, "anyOf", "oneOf");
    return firstFound(nullLast(branches, isNullSchema), (branch) => sample(merge(rest, branch), walk, refs));
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? impliedType(schema)];
  return firstFound(
    nullLast(types, (type) => type === "null"),
    (type) => sampleType(type, schema, walk, refs),
  );
}

function sampleRef(ref: string, schema: JsonObject, walk: Walk, refs: readonly string[]): unknown {
  if (refs.includes(ref) || !ref.startsWith("#")) return undefined;
  return sample(merge(resolve(walk.root, ref), without(schema, "$ref")), walk, [...refs, ref]);
}

function resolve(root: unknown, ref: string): unknown {
  const steps = ref.slice(1).split("/").slice(1);
  return steps.reduce<unknown>((at, step) => {
    const key = unescaped(step);
    return (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }, root);
}

function unescaped(step: string): string {
  const pointer = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** Both schemas at once; what is not a schema, and `false`, satisfies nobody. */
function merge(one: unknown, other: unknown): unknown {
  if (one === true || other === true) return one === true ? other : one;
  if (!isObject(one) || !isObject(other)) return false;
  const merged: JsonObject = { ...one, ...other };
  if (isObject(one.properties) && isObject(other.properties)) {
    merged.properties = { ...one.properties, ...other.properties };
  }
  if (Array.isArray(one.required) && Array.isArray(other.required)) {
    merged.required = [...one.required, ...other.required];
  }
  return merged;
}

function sampleType(type: unknown, schema: JsonObject, walk: Walk, refs: readonly string[]): unknown {
  if (type === "object") return sampleObject(schema, walk, refs);
  if (type === "array") return sampleArray(schema, walk, refs);
  if (type === "string") return sampleString(schema, walk.phrase);
  if (type === "number" || type === "integer") return sampleNumber(schema, type === "integer");
  if (type === "boolean") return true;
  return type === "null" ? null : undefined;
}

function sampleObject(schema: JsonObject, walk: Walk, refs: readonly string[]): JsonObject | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [];
  const sampled = new Map<string, unknown>();
  for (const key of new Set([...Object.keys(properties), ...required])) {
    const property = Object.hasOwn(properties, key) ? properties[key] : (schema.additionalProperties ?? true);
    const value = sample(property, walk, refs);
    if (value !== undefined) sampled.set(key, value);
    else if (required.includes(key)) return undefined;
  }
  return Object.fromEntries(sampled);
}

function sampleArray(schema: JsonObject, walk: Walk, refs: readonly string[]): unknown[] | undefined {
  const prefix = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const items = Array.isArray(schema.items) ? (schema.additionalItems ?? true) : (schema.items ?? true);
  const lengthMin = typeof schema.minItems === "number" ? schema.minItems : 0;
  const lengthMax = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
  const values: unknown[] = [];
  while (values.length < Math.min(Math.max(lengthMin, prefix.length, 1), lengthMax)) {
    const value = sample(values.length < prefix.length ? prefix[values.length] : items, walk, refs);
    if (value === undefined) break;
    values.push(value);
  }
  return values.length < lengthMin ? undefined : values;
}

function firstFound<T>(choices: readonly T[], find: (choice: T) => unknown): unknown {
  for (const choice of choices) {
    const found = find(choice);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A value says more than null, so null is the last resort. */
function nullLast<T>(choices: readonly T[], isNull: (choice: T) => boolean): T[] {
  return [...choices.filter((choice) => !isNull(choice)), ...choices.filter(isNull)];
}

function isNullSchema(schema: unknown): boolean {
  return isObject(schema) && (schema.type === "null" || schema.const === null);
}

function impliedType(schema: JsonObject): string {
  if ("properties" in schema || "required" in schema || "additionalProperties" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema || "minItems" in schema) return "array";
  return "minimum" in schema || "maximum" in schema || "multipleOf" in schema ? "number" : "string";
}

function without(schema: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}
