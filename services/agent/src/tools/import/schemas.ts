import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import { Unusable } from "./unusable.ts";

const LEVELS_MAX = 8;
const SCHEMA_BYTES_MAX = 16 * 1024;
/** For all that is read of a document, also what is read many times over references: about a second's work. */
const TOTAL_BYTES_MAX = 16 * 1024 * 1024;
/** What a value costs beside its length. */
const STEP_BYTES = 64;
const HOPS_MAX = 8;
const REF_MAX = 1_000;

const ONE = ["items", "additionalProperties", "not"];
const LISTS = ["anyOf", "oneOf", "allOf"];
const PLAIN = [
  ...["title", "description", "default", "enum", "const", "format", "minimum", "maximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
];

/** Reads the parts of an OpenAPI document. Nothing is ever fetched. */
export interface Parts {
  /** The object itself, or what it refers to. @throws Unusable */
  resolve(part: unknown): JsonObject;
  /** The JSON Schema of an OpenAPI schema, in the keywords that tools can use. @throws Unusable */
  schema(part: unknown): JsonObject;
  /** Counts work that no schema does. @throws Unusable once the document has taken too much */
  charge(bytes: number): void;
}

export function partsOf(document: JsonObject): Parts {
  let total = 0;

  function charge(bytes: number): void {
    total += bytes;
    if (total > TOTAL_BYTES_MAX)
      throw new Unusable("The document is too large to import all of it: leave out what you do not need");
  }

  function resolve(part: unknown): JsonObject {
    let at = part;
    for (let hops = 0; hops <= HOPS_MAX; hops++) {
      charge(16);
      if (!isObject(at)) break;
      if (typeof at.$ref !== "string") return at;
      at = targetOf(document, at.$ref);
    }
    throw new Unusable(isObject(at) ? "It refers to itself" : "A part of it is not an object");
  }

  return {
    resolve,
    charge,
    schema(part) {
      let bytes = 0;
      const spend = (more: number) => {
        charge(STEP_BYTES + more);
        bytes += more;
        if (bytes > SCHEMA_BYTES_MAX) throw new Unusable("its schema has more than 16 KiB");
      };
      const converted = converter(document, spend)(part, 1, []);
      if (Buffer.byteLength(JSON.stringify(converted)) <= SCHEMA_BYTES_MAX) return converted;
      throw new Unusable("its schema has more than 16 KiB");
    },
  };
}

type Convert = (part: unknown, level: number, trail: readonly string[]) => JsonObject;

function converter(document: JsonObject, spend: (bytes: number) => void): Convert {
  const convert: Convert = (part, level, trail) => {
    spend(2);
    if (part === undefined || part === true) return {};
    if (!isObject(part)) throw new Unusable("its schema is not an object");
    if (level > LEVELS_MAX) throw new Unusable(`its schema has more than ${LEVELS_MAX} levels`);
    const { $ref, allOf: given, ...rest } = part;
    const allOf = Array.isArray(given) ? given : [];
    if (typeof $ref !== "string") {
      // Often only a way to give a reference a description.
      if (allOf.length === 1 && isAnnotation(rest)) return annotated(convert(allOf[0], level, trail), rest);
      return keywords(part, (inner) => convert(inner, level + 1, trail));
    }
    if (allOf.length > 0 || !isAnnotation(rest)) return convert({ ...rest, allOf: [{ $ref }, ...allOf] }, level, trail);
    if (trail.includes($ref)) throw new Unusable(`its schema contains itself: ${$ref}`);
    return annotated(convert(targetOf(document, $ref), level, [...trail, $ref]), rest);
  };

  function annotated(schema: JsonObject, { nullable, ...rest }: JsonObject): JsonObject {
    const both = { ...schema, ...keywords(rest, () => ({})) };
    return { ...both, ...typeOf({ type: both.type, nullable }, both) };
  }

  function keywords(part: JsonObject, inside: (part: unknown) => JsonObject): JsonObject {
    const schema: JsonObject = {};
    for (const keyword of PLAIN) if (part[keyword] !== undefined) schema[keyword] = plain(part[keyword], spend);
    for (const keyword of ONE) {
      const value = part[keyword];
      if (value !== undefined) schema[keyword] = typeof value === "boolean" ? value : inside(value);
    }
    for (const keyword of LISTS) {
      const value = part[keyword];
      if (Array.isArray(value)) schema[keyword] = value.map(inside);
    }
    const properties = isObject(part.properties) ? Object.entries(part.properties) : [];
    spend(4 * properties.length);
    const given = properties.filter(([, value]) => !isObject(value) || value.readOnly !== true);
    if (given.length > 0) schema.properties = Object.fromEntries(given.map(([name, value]) => named(name, value)));
    const required = Array.isArray(part.required) ? part.required.filter((name) => isGiven(name)) : [];
    if (required.length > 0) schema.required = plain(required, spend);
    return { ...schema, ...typeOf(part, schema), ...boundsOf(part), ...examplesOf(part) };

    function named(name: string, value: unknown): [string, JsonObject] {
      spend(name.length);
      return [name, inside(value)];
    }

    function isGiven(name: unknown): boolean {
      const property = isObject(part.properties) && typeof name === "string" ? part.properties[name] : undefined;
      return typeof name === "string" && (!isObject(property) || property.readOnly !== true);
    }
  }

  function examplesOf({ example, examples }: JsonObject): JsonObject {
    if (Array.isArray(examples)) return { examples: plain(examples, spend) };
    return example === undefined ? {} : { examples: [plain(example, spend)] };
  }

  return (part, level, trail) => withoutUndefined(convert(part, level, trail));
}

/** Whether keywords say nothing of a value's parts, so that they can stand beside those of another schema. */
function isAnnotation(part: JsonObject): boolean {
  return ![...ONE, ...LISTS, "properties", "required"].some((keyword) => keyword in part);
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type of its own. */
function typeOf({ type, nullable }: JsonObject, { enum: members }: JsonObject): JsonObject {
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
  if (types.length === 0) return {};
  if (nullable !== true) return { type: types.length === 1 ? types[0] : types };
  const withNull = Array.isArray(members) && !members.includes(null) ? { enum: [...members, null] } : {};
  return { type: [...new Set([...types, "null"])], ...withNull };
}

/** OpenAPI 3.0 has booleans where JSON Schema has numbers. */
function boundsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): JsonObject {
  return {
    ...(typeof exclusiveMinimum === "number" && { exclusiveMinimum }),
    ...(typeof exclusiveMaximum === "number" && { exclusiveMaximum }),
    ...(exclusiveMinimum === true && { exclusiveMinimum: minimum, minimum: undefined }),
    ...(exclusiveMaximum === true && { exclusiveMaximum: maximum, maximum: undefined }),
  };
}

/** What a local reference leads to (RFC 6901). @throws Unusable */
function targetOf(document: JsonObject, ref: string): unknown {
  if (ref.length > REF_MAX) throw new Unusable(`It has a reference of more than ${REF_MAX} characters`);
  if (!ref.startsWith("#"))
    throw new Unusable(`It refers to another document, which is not read: ${ref.slice(0, 200)}`);
  let at: unknown = document;
  for (const part of ref.slice(1).split("/").slice(1)) {
    const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name))
      throw new Unusable(`It refers to what the document does not have: ${ref.slice(0, 200)}`);
    at = (at as JsonObject)[name];
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A JSON value. YAML has more kinds of values, and values that contain themselves. */
function plain(value: unknown, spend: (bytes: number) => void, level = 1): unknown {
  spend(typeof value === "string" ? value.length : 4);
  if (level > 2 * LEVELS_MAX) throw new Unusable("a value in its schema has too many levels");
  if (Array.isArray(value)) return value.map((item) => plain(item, spend, level + 1));
  if (value instanceof Date) return value.toISOString();
  if (isObject(value)) {
    const fields = Object.entries(value).map(([name, field]): [string, unknown] => {
      spend(name.length);
      return [name, plain(field, spend, level + 1)];
    });
    return Object.fromEntries(fields);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" || typeof value === "boolean" ? value : null;
}

function withoutUndefined(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
