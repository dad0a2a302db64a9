import { unifiedDiff } from "@parley/shared/text/unified-diff";

/** A field in which two versions differ. */
export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
  /** Of a prompt, and of a text of several lines: the two in the unified format. */
  diff?: string;
}

/**
 * Where what two versions show differs, in the order of their fields. What is in an object counts by itself, such as
 * `llm.params.temperature`; a list counts as a whole.
 * @param names of the versions, for the heads of diffs
 */
export async function diffOf(from: object, to: object, names: { from: string; to: string }): Promise<FieldChange[]> {
  const changes: FieldChange[] = [];
  for (const change of changesOf(from, to, "")) {
    const texts = textsOf(change);
    if (!texts) changes.push(change);
    else {
      const diff = await unifiedDiff({ title: names.from, text: texts.from }, { title: names.to, text: texts.to });
      changes.push({ ...change, diff });
    }
  }
  return changes;
}

function changesOf(from: object, to: object, path: string): FieldChange[] {
  const [before, after] = [new Map(Object.entries(from)), new Map(Object.entries(to))];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const field = path === "" ? name : `${path}.${name}`;
    const [was, is] = [before.get(name) ?? null, after.get(name) ?? null];
    if (Bun.deepEquals(was, is)) return [];
    return isParts(was) && isParts(is) ? changesOf(was, is, field) : [{ field, from: was, to: is }];
  });
}

function isParts(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textsOf({ field, from, to }: FieldChange): { from: string; to: string } | null {
  if (typeof from !== "string" || typeof to !== "string") return null;
  return field.endsWith("prompt_content") || from.includes("\n") || to.includes("\n") ? { from, to } : null;
}
