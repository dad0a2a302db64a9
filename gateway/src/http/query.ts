import { invalid } from "@parley/shared/errors";
import type { TObject } from "@sinclair/typebox";

const INTEGER = /^-?\d+$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };

/**
 * The query of an address with numbers and booleans read as what the schema says they are. What cannot be read stays text
 * and is refused by validation; an empty parameter counts as absent; of a repeated one the first counts.
 * @throws ServiceError invalid on a NUL character, which nothing stored can contain
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
