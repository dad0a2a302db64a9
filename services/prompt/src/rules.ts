import { invalid, notFound } from "@parley/shared/errors";
import { nameFault } from "@parley/shared/text/name";

/** Returns why a text cannot be a prompt's name, or null if it can (docs/api-reference.md#prompts). */
export function promptNameFault(name: string): string | null {
  if (name === "." || name === "..") return 'prompt_name must not be "." or ".."';
  const fault = nameFault(name);
  return fault && `prompt_name ${fault}`;
}

/** @throws ServiceError `invalid` when the text cannot be a prompt's name */
export function checkPromptName(name: string): void {
  const fault = promptNameFault(name);
  if (fault) throw invalid("prompt_name", fault);
}

/**
 * For look-ups: no prompt has an invalid name, and the database rejects some of them.
 * @param path the request field of the name, if a field has it
 * @throws ServiceError `not_found`
 */
export function checkPromptMayExist(name: string, path?: string): void {
  if (promptNameFault(name)) throw notFound("Prompt", path);
}

/** @param path the request field of the content @throws ServiceError `invalid` */
export function checkContent(content: string, path = "prompt_content"): void {
  if (content === "") throw invalid(path, `${path} must be at least 1 character`);
  if (content.includes("\0")) throw invalid(path, `${path} must not contain the character U+0000`);
}

/** @param path the request field of the version @throws ServiceError `invalid` */
export function checkVersion(version: number | undefined, path: string): void {
  if (version !== undefined && version < 1) throw invalid(path, `${path} must be at least 1`);
}
