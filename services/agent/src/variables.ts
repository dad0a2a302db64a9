import type { VariableDefinition } from "@parley/shared/domain/variables/template";
import { compileTexts } from "@parley/shared/domain/variables/template";
import { ownerCache } from "@parley/shared/shares/owner-cache";

/** Parsing a prompt costs more than the rest of a read. The texts are the key, so nothing here goes stale. */
const parsed = ownerCache<readonly VariableDefinition[]>({ totalBytes: 16 * 1024 * 1024, ownerBytes: 4 * 1024 * 1024 });

/** Returns the variables an agent expects, in reading order: prompt, then first message. */
export function variablesOf(
  ownerId: string,
  promptContent: string | undefined,
  firstMessage: string | null,
): readonly VariableDefinition[] {
  const texts = [promptContent ?? "", firstMessage ?? ""];
  if (!texts.some((text) => text.includes("{{"))) return [];
  const key = texts.join("\0");
  let definitions = parsed.get(ownerId, key);
  if (!definitions) {
    definitions = compileTexts(texts).definitions;
    parsed.set(ownerId, key, definitions, size(definitions, key));
  }
  return definitions;
}

function size(definitions: readonly VariableDefinition[], key: string): number {
  return 2 * key.length + 200 * definitions.length + 1;
}
