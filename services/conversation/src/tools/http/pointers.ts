/** A JSON value, or undefined where there is none. */
type Json = unknown;

/** The value at a JSON pointer (RFC 6901); undefined where the document has none. */
export function valueAt(document: Json, pointer: string): Json {
  return partsOf(pointer).reduce<Json>(memberOf, document);
}

/**
 * The document without what no pointer leads to: objects keep the named fields, lists the named items, in the document's order.
 * Undefined when no pointer leads anywhere.
 */
export function keptOf(document: Json, pointers: readonly string[]): Json {
  const paths = pointers.map(partsOf).filter((parts) => parts.reduce<Json>(memberOf, document) !== undefined);
  return paths.length === 0 ? undefined : keepPaths(document, paths);
}

function keepPaths(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.some((path) => path.length === 0)) return value;
  const names = new Set(paths.map(([name]) => name as string));
  const keep = (name: string) =>
    keepPaths(
      memberOf(value, name),
      paths.filter(([first]) => first === name).map(([, ...rest]) => rest),
    );
  if (Array.isArray(value))
    return [...value.keys()]
      .map(String)
      .filter((name) => names.has(name))
      .map(keep);
  const fields = Object.keys(value as object).filter((name) => names.has(name));
  return Object.fromEntries(fields.map((name) => [name, keep(name)]));
}

/** Unescapes `~1` before `~0`, as RFC 6901 says. */
function partsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function memberOf(value: Json, name: string): Json {
  // Of an object, never what it inherits; of a list, only its items.
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && name === "length") return undefined;
  return (value as Record<string, Json>)[name];
}
