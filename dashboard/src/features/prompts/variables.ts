export interface Variable {
  /** The name under which values are given: lower case, with underscores. */
  name: string;
  /** Without one the agent needs a value. */
  defaultValue: string | null;
  description: string;
}

/** A placeholder, as docs/api-reference.md#dynamic-variables describes it. */
export const PLACEHOLDER =
  /\{\{\s*([^{}:|]*[\p{L}\p{N}][^{}:|]*?)\s*(?::\s*(?:STRING|NUMBER|EMAIL|PHONE)\s*(?::\s*([^{}|]*?)\s*)?)?(?:\|\s*("(?:[^"\\]|\\.)*"|[^{}"\s]+)\s*)?\}\}/giu;

/** The variables of some texts that each conversation gives, in reading order; the first default and description count. */
export function variablesIn(...texts: readonly string[]): Variable[] {
  const found = new Map<string, Variable>();
  for (const [, written = "", description = "", fallback] of texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)])) {
    const name = canonical(written);
    // Parley sets these itself.
    if (name.startsWith("system_")) continue;
    const before = found.get(name);
    found.set(name, {
      name,
      defaultValue: before?.defaultValue ?? (fallback === undefined ? null : plain(fallback)),
      description: before?.description || description,
    });
  }
  return [...found.values()];
}

/** The text as the agent gets it. A value of "" counts as none here, because an empty field means "use the default". */
export function filled(text: string, variables: readonly Variable[], values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (_, written: string) => {
    const name = canonical(written);
    return values[name] || (variables.find((variable) => variable.name === name)?.defaultValue ?? "");
  });
}

function canonical(written: string): string {
  return written
    .replace(/(?=[\p{L}\p{M}])\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}

function plain(fallback: string): string {
  if (!fallback.startsWith('"')) return fallback;
  try {
    return String(JSON.parse(fallback));
  } catch {
    return fallback;
  }
}
