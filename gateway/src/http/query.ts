import { invalid } from "@parley/shared/errors";
import type { TObject } from "@sinclair/typebox";

const INTEGER = /^-?\d+$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };

/**
 * Parses a URL's query, converting numbers and booleans as the schema says. Text that cannot be converted stays text,
 * so validation refuses it; an empty parameter counts as absent; the first of repeated ones counts.
 * @throws ServiceError invalid for a NUL character, which nothing stored can contain
 */
export function readQuery(url: string, schema: TObject): Record<string, unknown> {
  const at = url.indexOf("?");
  if (at === -1) return {};
  const query: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(url.slice(at + 1))) {
    if (text.includes("\0")) throw invalid(name, `${name} must not contain a NUL character`);
    const property = schema.properties[name];
    if (!property || text === "" || Object.hasOwn(query, name)) continue;
    if (property.type === "integer" && INTEGER.test(text)) query[name] = Number(text);
    else if (property.type === "boolean" && text in BOOLEANS) query[name] = BOOLEANS[text];
    else query[name] = text;
  }
  return query;
}
