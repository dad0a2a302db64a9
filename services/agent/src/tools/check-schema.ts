import { invalid } from "@parley/shared/errors";
import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import Ajv from "ajv/dist/2020";

const BYTES_MAX = 16 * 1024;
const DEPTH_MAX = 8;

/** Keywords whose values are schemas, by how they hold them. */
const ONE = ["items", "additionalProperties", "not"];
const LISTS = ["anyOf", "oneOf", "allOf"];
const BY_NAME = ["properties"];

/**
 * The keywords that models understand and that are checked in bounded time: a regular expression can take minutes, and a
 * reference leads to another document, or around in a circle.
 */
const KEYWORDS = new Set([
  ...ONE,
  ...LISTS,
  ...BY_NAME,
  "$schema",
  "type",
  "title",
  "description",
  "default",
  "examples",
  "enum",
  "const",
  "format",
  "required",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
]);

const ajv = new Ajv({ strict: false, logger: false });

/**
 * Checks a JSON Schema (draft 2020-12) of an argument.
 * @throws ServiceError invalid, naming the place in the schema
 */
export function checkSchema(path: string, schema: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > BYTES_MAX)
    throw invalid(path, `${path} must have at most ${BYTES_MAX} bytes`);
  checkKeywords(path, schema, 1);
  if (ajv.validateSchema(schema) === true) return;
  const [error] = ajv.errors ?? [];
  const place = `${path}${(error?.instancePath ?? "").replaceAll("/", ".")}`;
  throw invalid(place, `${place} is not JSON Schema: it ${error?.message ?? "is not valid"}`);
}

function checkKeywords(path: string, schema: unknown, depth: number): void {
  if (!isObject(schema)) return;
  if (depth > DEPTH_MAX) throw invalid(path, `${path} must not have more than ${DEPTH_MAX} levels`);
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${path}.${keyword}`;
    if (!KEYWORDS.has(keyword)) throw invalid(place, `${place} is not a keyword that tools can use`);
    if (ONE.includes(keyword)) checkKeywords(place, value, depth + 1);
    if (LISTS.includes(keyword) && Array.isArray(value))
      for (const [at, inner] of value.entries()) checkKeywords(`${place}.${at}`, inner, depth + 1);
    if (BY_NAME.includes(keyword) && isObject(value))
      for (const [name, inner] of Object.entries(value)) checkKeywords(`${place}.${name}`, inner, depth + 1);
  }
}
