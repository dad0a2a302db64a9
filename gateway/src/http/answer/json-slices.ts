/** Approximate length of a slice in characters. Control characters become six each, which takes a millisecond. */
const SLICE = 16 * 1024;
/** Longer values are serialized separately from their neighbours. */
const SMALL = 4 * 1024;

/**
 * Yields `JSON.stringify(value)` in slices of about 16 Ki characters, each produced on demand, so that the whole text
 * is never in memory and other requests run in between. Never splits a surrogate pair.
 */
export function* jsonSlices(value: unknown): Generator<string> {
  let made = "";

  function* write(item: unknown): Generator<string> {
    if (typeof item === "string" && item.length > SMALL) yield* writeText(item);
    else if (isFlat(item)) made += JSON.stringify(item) ?? "null";
    else if (Array.isArray(item)) yield* writeArray(item);
    else yield* writeObject(item as Record<string, unknown>);
    if (made.length >= SLICE) yield take();
  }

  function* writeText(text: string): Generator<string> {
    made += '"';
    for (let from = 0; from < text.length; ) {
      const to = from + SLICE + (isHighSurrogate(text, from + SLICE - 1) ? 1 : 0);
      made += JSON.stringify(text.slice(from, to)).slice(1, -1);
      if (made.length >= SLICE) yield take();
      from = to;
    }
    made += '"';
  }

  function* writeArray(items: readonly unknown[]): Generator<string> {
    made += "[";
    for (const [at, item] of items.entries()) {
      if (at > 0) made += ",";
      yield* write(item);
    }
    made += "]";
  }

  function* writeObject(object: Record<string, unknown>): Generator<string> {
    made += "{";
    let isFirst = true;
    for (const [name, item] of Object.entries(object)) {
      if (item === undefined) continue;
      made += `${isFirst ? "" : ","}${JSON.stringify(name)}:`;
      isFirst = false;
      yield* write(item);
    }
    made += "}";
  }

  function take(): string {
    const slice = made;
    made = "";
    return slice;
  }

  yield* write(value);
  if (made !== "") yield made;
}

/** Whether an item contains no containers and no long texts. */
function isFlat(item: unknown): boolean {
  if (typeof item !== "object" || item === null) return true;
  if ("toJSON" in item) return true;
  if (Array.isArray(item)) return item.length === 0;
  for (const name in item) {
    const value = (item as Record<string, unknown>)[name];
    if (typeof value === "string" ? value.length > SMALL : typeof value === "object" && value !== null) return false;
  }
  return true;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
