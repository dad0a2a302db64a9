import type { ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES } from "@parley/shared/domain/tools";
import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import { isReservedHeader } from "../check-headers.ts";
import { DESCRIPTION_MAX, PARAMETERS_MAX } from "./imported.ts";
import type { Parts } from "./schemas.ts";
import { Unusable } from "./unusable.ts";

/** What models accept as the name of an argument (`../check-parameters.ts`). */
const ARGUMENT = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Not parameters by OpenAPI's own words. */
const NO_PARAMETER = /^(?:accept|authorization)$/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b|^\*\/\*$|^application\/\*$/i;
/** An operation of a document has fewer; more would only take time. */
const READ_MAX = 500;

type Place = keyof typeof PARAMETER_PLACES;

interface Given {
  name: string;
  place: Place;
  required: boolean;
  schema: unknown;
  description: unknown;
}

/**
 * The parameters of an operation that models fill in: those of the path, the query and the headers, and the properties of a JSON body.
 * Optional ones that cannot be used are left out, which a note says.
 * @throws Unusable for a required one
 */
export function parametersOf(
  parts: Parts,
  pathItem: JsonObject,
  operation: JsonObject,
  notes: string[],
): ToolParameter[] {
  const given = [...namedOnes(parts, pathItem, operation, notes), ...bodyOnes(parts, operation)];
  const ordered = given.toSorted((a, b) => Number(b.required) - Number(a.required));
  const parameters = new Map<string, ToolParameter>();
  for (const each of ordered) {
    try {
      if (parameters.size >= PARAMETERS_MAX) throw new Unusable(`there are more than ${PARAMETERS_MAX} parameters`);
      if (parameters.has(each.name)) throw new Unusable("there is another parameter with its name");
      parameters.set(each.name, parameterOf(parts, each));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      const what = `${each.place} parameter ${each.name.slice(0, 100)}`;
      if (each.required) throw new Unusable(`The ${what} cannot be used: ${error.message}`);
      notes.push(`The ${what} is left out: ${error.message}`);
    }
  }
  return [...parameters.values()];
}

function parameterOf(parts: Parts, { name, place, required, schema, description }: Given): ToolParameter {
  if (!ARGUMENT.test(name)) throw new Unusable("models cannot use its name");
  const value = parts.schema(schema);
  const about =
    typeof description === "string" && value.description === undefined
      ? { description: description.slice(0, DESCRIPTION_MAX) }
      : {};
  const source = { $case: "schema" as const, value: { ...value, ...about } };
  return { name, in: PARAMETER_PLACES[place], required, source, allowedFrom: undefined };
}

/** Those of the operation count before those of its path. */
function namedOnes(parts: Parts, pathItem: JsonObject, operation: JsonObject, notes: string[]): Given[] {
  const lists = [pathItem.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  if (lists.length > READ_MAX) throw new Unusable(`It has more than ${READ_MAX} parameters`);
  const given = new Map<string, Given>();
  for (const part of lists) {
    const { name, in: place, required, schema, content, description } = parts.resolve(part);
    if (typeof name !== "string") throw new Unusable("A parameter has no name");
    const isRequired = required === true || place === "path";
    if (place === "path" || place === "query" || place === "header") {
      if (place === "header" && (NO_PARAMETER.test(name) || isReservedHeader(name))) continue;
      const shape = schema ?? jsonOf(parts, content)?.schema;
      given.set(`${place} ${name}`, { name, place, required: isRequired, schema: shape, description });
    } else if (isRequired) throw new Unusable(`The ${place} parameter ${name} is required, which tools do not have`);
    else notes.push(`The ${place} parameter ${name} is left out: tools have none in a ${place}`);
  }
  return [...given.values()];
}

/** @throws Unusable for a body that is no JSON object: the operation would be nothing without it */
function bodyOnes(parts: Parts, { requestBody }: JsonObject): Given[] {
  if (requestBody === undefined) return [];
  const { content } = parts.resolve(requestBody);
  const json = jsonOf(parts, content);
  if (!json) {
    const types = Object.keys(isObject(content) ? content : {}).join(", ");
    throw new Unusable(`The body is ${types.slice(0, 200) || "of no type"}, and tools send JSON`);
  }
  const { properties, needed } = propertiesOf(parts, json.schema, 0);
  if (properties.length === 0) throw new Unusable("The body has no named properties, and tools send an object");
  return properties.map(([name, schema]) => ({
    name,
    place: "body",
    required: needed.has(name),
    schema,
    description: undefined,
  }));
}

function jsonOf(parts: Parts, content: unknown): JsonObject | null {
  const types = isObject(content) ? Object.entries(content) : [];
  parts.charge(16 * types.length);
  const [, json] = types.find(([type]) => JSON_TYPE.test(type)) ?? [];
  return json === undefined ? null : parts.resolve(json);
}

/** The properties of an object's schema, also of one that is all of several. */
function propertiesOf(
  parts: Parts,
  part: unknown,
  level: number,
): { properties: [name: string, schema: unknown][]; needed: Set<string> } {
  if (level > 4) throw new Unusable("The body has too many levels");
  const schema = parts.resolve(part ?? {});
  const of = (Array.isArray(schema.allOf) ? schema.allOf : []).map((each) => propertiesOf(parts, each, level + 1));
  const own = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  parts.charge(32 * own.length);
  const writable = own.filter(([, value]) => !isObject(value) || value.readOnly !== true);
  const properties = new Map([...of.flatMap((each) => each.properties), ...writable]);
  if (properties.size > READ_MAX) throw new Unusable(`The body has more than ${READ_MAX} properties`);
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
  const needed = new Set([...of.flatMap((each) => [...each.needed]), ...required]);
  return { properties: [...properties], needed };
}
