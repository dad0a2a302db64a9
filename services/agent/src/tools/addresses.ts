import { parseText } from "@parley/shared/domain/variables/grammar";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid } from "@parley/shared/errors";

const PARAMETER = /\{([^{}]*)\}/g;
/** A URL parser also takes a host after further slashes, and leaves out tabs and line ends: here a value must not be the host. */
const ORIGIN = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i;

/**
 * Checks an address with `{path parameters}` and `{{variables}}`, which stand after the host only: otherwise a value could
 * choose the host.
 * @throws ServiceError invalid
 */
export function checkTemplate(path: string, template: string, allowedHosts: AllowList): void {
  if (!ORIGIN.test(template)) throw invalid(path, `${path} must begin with https:// and a host without {placeholders}`);
  const [, query = ""] = withoutVariables(template, "").split("?", 2);
  if (/[{}]/.test(query)) throw invalid(path, `${path} may have {parameters} in its path only: use query parameters`);
  const filled = withoutVariables(template, "x").replace(PARAMETER, "x");
  if (/[{}]/.test(filled)) throw invalid(path, `${path} has a brace without its other one`);
  if (/[\s\p{Cc}\\]/u.test(filled)) throw invalid(path, `${path} must not have white space or backslashes`);
  checkAddress(path, filled, allowedHosts);
}

/** The names of the `{path parameters}` of an address, each once. */
export function pathParametersOf(template: string): string[] {
  const names = [...withoutVariables(template, "").matchAll(PARAMETER)].map(([, name = ""]) => name);
  return [...new Set(names)];
}

/** The template with a text in place of each of its `{{variables}}`. */
function withoutVariables(template: string, text: string): string {
  return parseText(template)
    .map((piece) => (typeof piece === "string" ? piece : text))
    .join("");
}
