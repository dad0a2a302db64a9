import { parseObject } from "@parley/shared/json/json-object";

/**
 * Finds the JSON object in a model's answer: the answer itself, or the only object in the prose or code fence around
 * it. Returns null when there is none, and when there are several, because picking one would be a guess.
 */
export function extractJson(text: string): Record<string, unknown> | null {
  const whole = parseObject(text);
  if (whole) return whole;
  const [first, ...others] = objectsIn(text);
  return first && others.length === 0 ? first : null;
}

/** Scans the text once, so that unbalanced braces cannot make it quadratic. */
function objectsIn(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  let depth = 0;
  let start = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at++;
      else if (character === '"') isInString = false;
    } else if (character === "{") {
      if (depth === 0) start = at;
      depth++;
    } else if (depth > 0) {
      if (character === '"') isInString = true;
      if (character === "}") depth--;
      const object = depth === 0 ? parseObject(text.slice(start, at + 1)) : null;
      if (object) found.push(object);
    }
  }
  return found;
}
