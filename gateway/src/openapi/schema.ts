import type { TSchema } from "@sinclair/typebox";

export type Json = Record<string, unknown>;
/** The named schemas, collected while the document is built. */
export type Components = Record<string, Json>;

/**
 * Converts a schema for the document: named ones become references, unions of words become enums, and our own keywords
 * are left out.
 */
export function shown(schema: TSchema, components: Components): Json {
  if (schema.$id === undefined) return plain(schema, components);
  if (!components[schema.$id]) {
    components[schema.$id] = {};
    components[schema.$id] = plain(schema, components);
  }
  const reference = { $ref: `#/components/schemas/${schema.$id}` };
  return schema.about === undefined ? reference : { ...reference, description: schema.about };
}

const OWN_KEYWORDS = new Set(["$id", "about", "form", "check", "anyOf"]);

function plain(schema: TSchema, components: Components): Json {
  const json: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (OWN_KEYWORDS.has(keyword)) continue;
    json[keyword] = isSchemaHolder(keyword) ? mapSchemas(value, components) : value;
  }
  if (schema.anyOf) Object.assign(json, alternatives(schema.anyOf, components));
  return json;
}

function alternatives(forms: readonly TSchema[], components: Components): Json {
  const words = forms.map((form) => form.const);
  if (words.every((word) => typeof word === "string")) return { type: "string", enum: words };
  return { anyOf: forms.map((form) => shown(form, components)) };
}

function isSchemaHolder(keyword: string): boolean {
  return ["properties", "items", "patternProperties"].includes(keyword);
}

function mapSchemas(value: TSchema | Record<string, TSchema>, components: Components): Json {
  const isOneSchema = "type" in value && typeof value.type === "string";
  if (isOneSchema || "anyOf" in value || "$id" in value) return shown(value as TSchema, components);
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, shown(schema as TSchema, components)]));
}
