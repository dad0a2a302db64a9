/**
 * The pieces that SIP header values are made of (RFC 3261, section 25.1). Each function passes over its text once: a pattern that looks
 * for the end of a quote or bracket would look through the rest again for each one that does not end.
 */
export type Params = Map<string, string>;

/** The parts between separators outside of quotes and angle brackets; each is trimmed, and empty ones are left out. */
export function split(text: string, separator: "," | ";" | " "): string[] {
  const at = [-1, ...positionsOf(separator, text), text.length];
  return at
    .slice(1)
    .map((to, index) => text.slice((at[index] as number) + 1, to).trim())
    .filter((part) => part !== "");
}

/** Where a character is outside of quotes and angle brackets. What a quote or bracket that does not end begins is inside. */
export function positionsOf(wanted: string, text: string): number[] {
  const positions: number[] = [];
  let closing: '"' | ">" | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (closing === '"' && character === "\\") at++;
    else if (closing !== null) closing = character === closing ? null : closing;
    else {
      if (character === wanted) positions.push(at);
      if (character === '"') closing = '"';
      if (character === "<") closing = ">";
    }
  }
  return positions;
}

/** A value and its parameters: `value;name=token;name="quoted";name`. */
export function readValue(text: string): { value: string; params: Params } {
  const [value = "", ...rest] = split(text, ";");
  return text.trimStart().startsWith(";") ? { value: "", params: readParams(text) } : { value, params: paramsOf(rest) };
}

/** `;name=value;name`: lower-case names, and values without quotes. A name that is repeated keeps its first value. */
export function readParams(text: string): Params {
  return paramsOf(split(text, ";"));
}

export function paramsOf(parts: readonly string[]): Params {
  const params: Params = new Map();
  for (const part of parts) {
    const at = part.indexOf("=");
    const name = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase();
    if (name !== "" && !params.has(name)) params.set(name, at < 0 ? "" : unquoted(part.slice(at + 1).trim()));
  }
  return params;
}

export function writeParams(params: Params): string {
  return [...params].map(([name, value]) => `;${name}${value === "" ? "" : `=${asValue(value)}`}`).join("");
}

/** A text as it is, or what its quotes and escapes stand for. */
export function unquoted(text: string): string {
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  return isQuoted ? text.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : text;
}

export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A token or host as it is, and everything else in quotes. */
function asValue(text: string): string {
  return /^[A-Za-z0-9\-.!%*_+`'~:[\]]+$/.test(text) ? text : quoted(text);
}
