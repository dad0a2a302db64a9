type Search = Record<string, unknown>;

/** Where a list opens its form for a new one: `?new=true`. */
export function opensNew(search: Search): { new?: true } {
  return search.new === true ? { new: true } : {};
}

/** A text of the address, if present. Numbers and booleans count as texts, because the router parses them. */
export function textIn<N extends string>(search: Search, name: N): Partial<Record<N, string>> {
  const value = search[name];
  const isText = ["string", "number", "boolean"].includes(typeof value) && value !== "";
  return (isText ? { [name]: String(value) } : {}) as Partial<Record<N, string>>;
}

/** One of a few words. */
export function oneIn<N extends string, W extends string>(
  search: Search,
  name: N,
  words: readonly W[],
): Partial<Record<N, W>> {
  const found = words.find((word) => word === search[name]);
  return (found ? { [name]: found } : {}) as Partial<Record<N, W>>;
}

/** A number from 1 on, such as that of a version. */
export function numberIn<N extends string>(search: Search, name: N): Partial<Record<N, number>> {
  const value = search[name];
  const isNumber = Number.isSafeInteger(value) && Number(value) > 0;
  return (isNumber ? { [name]: Number(value) } : {}) as Partial<Record<N, number>>;
}

/** The page of a list, from the second on. */
export function pageIn({ page }: Search): { page?: number } {
  return Number.isSafeInteger(page) && Number(page) > 1 ? { page: Number(page) } : {};
}
