import { isObject } from "@parley/shared/json/json-object";
import { generateSync } from "json-schema-faker";

/** Larger values would take too long to generate. */
const LENGTH_MAX = 1_000;
const NODES_MAX = 5_000;

/** A deterministic value for a JSON Schema, with the phrase for plain strings; undefined when none is found. */
export function sampleJson(schema: unknown, phrase: string): unknown {
  if (!isObject(schema)) return schema === true ? phrase : undefined;
  try {
    return generateSync(withExamples(schema, phrase, { left: NODES_MAX }) as never, {
      seed: 1,
      alwaysFakeOptionals: true,
      useExamplesValue: true,
      maxDefaultItems: 1,
    });
  } catch {
    return undefined;
  }
}

/** Adds examples to the schema, with the phrase for plain strings. @throws when the schema is too large */
function withExamples(node: unknown, phrase: string, nodes: { left: number }): unknown {
  if (--nodes.left < 0) throw new Error("too many nodes");
  if (Array.isArray(node)) return node.map((item) => withExamples(item, phrase, nodes));
  if (!isObject(node)) return node;
  for (const bound of [node.minLength, node.minItems]) {
    if (typeof bound === "number" && bound > LENGTH_MAX) throw new Error("too long");
  }
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withExamples(value, phrase, nodes)]),
  );
  // The generator prefers an enum to examples.
  if (Array.isArray(node.enum)) return { ...copy, enum: [node.enum.find((value) => value !== null) ?? null] };
  const example = exampleOf(node, phrase);
  return example === undefined ? copy : { ...copy, examples: [example] };
}

/** The example for a simple node; the generator finds values for the others. */
function exampleOf(node: Record<string, unknown>, phrase: string): unknown {
  if (node.type === "integer" && Number.isInteger(node.minimum)) return node.minimum;
  const isString = node.type === "string" || (Array.isArray(node.type) && node.type.includes("string"));
  const isPlain = isString && !["const", "format", "pattern"].some((keyword) => keyword in node);
  return isPlain ? fitted(phrase, node) : undefined;
}

function fitted(
  phrase: string,
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Record<string, unknown>,
): string {
  const characters = [...phrase.toWellFormed()].slice(0, Number(maxLength));
  return characters.join("") + ".".repeat(Math.max(0, Number(minLength) - characters.length));
}
