import type { PromptReference } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { invalid } from "@parley/shared/errors";
import { checkVersion } from "../rules.ts";

/** Always the newest version, of every prompt. */
export const LATEST = "latest";

const LABEL = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a version can have the label. */
export function isLabel(text: string): boolean {
  return LABEL.test(text) && text !== LATEST;
}

/** @param path the request field of the label @throws ServiceError `invalid` when the text cannot be a label */
export function checkLabel(label: string, path: string): void {
  if (!LABEL.test(label))
    throw invalid(path, `${path} must be 1 to 64 letters of A to Z, digits, hyphens or underscores`);
}

/**
 * The version that a reference means, as `findVersions` looks it up.
 * @param fields the request fields of version and label
 * @throws ServiceError `invalid` when it names both a version and a label, or an impossible one
 */
export function wantedVersion(
  { promptVersion, promptLabel }: Pick<PromptReference, "promptVersion" | "promptLabel">,
  fields: { version: string; label: string },
): { promptVersion: number | null; promptLabel: string | null } {
  const { version, label } = fields;
  checkVersion(promptVersion, version);
  if (promptLabel !== undefined) checkLabel(promptLabel, label);
  if (promptVersion !== undefined && promptLabel !== undefined) {
    throw invalid(label, `${label} must not be given with ${version}: send one of them`);
  }
  return { promptVersion: promptVersion ?? null, promptLabel: promptLabel === LATEST ? null : (promptLabel ?? null) };
}

const NUMBER = /^[1-9]\d{0,9}$/;
const NUMBER_MAX = 2 ** 31 - 1;

/**
 * The version that a text means: its number, a label, or `latest`.
 * @param path the request field of the text @throws ServiceError `invalid`
 */
export function versionNamed(text: string, path: string): { promptVersion: number | null; promptLabel: string | null } {
  if (text === LATEST) return { promptVersion: null, promptLabel: null };
  if (NUMBER.test(text) && Number(text) <= NUMBER_MAX) return { promptVersion: Number(text), promptLabel: null };
  if (LABEL.test(text)) return { promptVersion: null, promptLabel: text };
  throw invalid(path, `${path} must be the number of a version, a label or ${LATEST}`);
}
