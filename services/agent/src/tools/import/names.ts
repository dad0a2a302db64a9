import { BUILT_IN_TOOLS } from "@parley/shared/domain/tools";

const NAME_MAX = 64;
const SECRET_WORDS =
  /(?:^|_)(?:(?:api|access|app|auth|private|secret|subscription)_?key|(?<!page_|next_|continuation_|sync_)token|secret|password|passwd|pwd|signature|cookie|auth)$|^key$|authorization/;

/** A name that a tool can have: the words of the text, with a number behind if it is taken. Takes it. */
export function toolName(text: string, taken: Set<string>): string {
  const words = text
    .slice(0, 1_000)
    .replaceAll(/[^a-zA-Z0-9]+/g, "_")
    .replace(/^[^a-zA-Z]+/, "")
    .replace(/_+$/, "");
  const base = words || "operation";
  for (let number = 1; ; number++) {
    const end = number === 1 ? "" : `_${number}`;
    const name = base.slice(0, NAME_MAX - end.length) + end;
    if (taken.has(name.toLowerCase()) || (BUILT_IN_TOOLS as readonly string[]).includes(name)) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}

/** The name of a secret that the owner then makes. */
export function secretName(...words: readonly string[]): string {
  const text = words.map((each) =>
    each
      .slice(0, 200)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "_"),
  );
  const parts = text.map((each) => each.replaceAll(/^_+|_+$/g, "").slice(0, 30)).filter((each) => each !== "");
  return parts.join("_").slice(0, NAME_MAX) || "secret";
}

/** Whether the value of a header or parameter of this name is a secret. */
export function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll(/[-.]/g, "_");
  return SECRET_WORDS.test(words.toLowerCase());
}
