import { JSON_VALUES_MAX, tooManyValues } from "@parley/shared/json/storable-json";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** In valid JSON, bytes up to this one are whitespace. */
const SPACE = 0x20;

/**
 * Refuses JSON with too many values before a parser allocates objects for them. Leaves validity to the parser.
 * @throws ServiceError invalid, naming the field at which the limit was exceeded
 */
export function refuseManyValues(text: Buffer, whole: string, valuesMax = JSON_VALUES_MAX): void {
  // Every value takes at least one byte.
  if (text.length <= valuesMax) return;
  let values = 1;
  let depth = 0;
  let previous = 0;
  let field: readonly [number, number] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte <= SPACE) continue;
    if (byte === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1 && (previous === OPEN_OBJECT || previous === COMMA)) field = [at, end + 1];
      at = end;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      // Counts the first value, unless the container is empty.
      values++;
      depth++;
    } else if (byte === COMMA) {
      values++;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (previous === OPEN_ARRAY || previous === OPEN_OBJECT) values--;
      depth--;
    }
    // Allows one more, because the last container may be empty.
    if (values > valuesMax + 1) throw tooManyValues(nameOf(text.subarray(...field)), whole, valuesMax);
    previous = byte;
  }
  if (values > valuesMax) throw tooManyValues(nameOf(text.subarray(...field)), whole, valuesMax);
}

/** The end of the string that starts at `from`: its closing quote, or the end of the text. */
function endOfString(text: Buffer, from: number): number {
  for (let end = text.indexOf(QUOTE, from + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function nameOf(quoted: Buffer): string {
  try {
    return String(JSON.parse(quoted.toString()));
  } catch {
    return "";
  }
}
