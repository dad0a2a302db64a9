import { SCOPES } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";

/**
 * The scopes of a new key: the requested ones without duplicates, or all.
 * @throws ServiceError invalid, listing the known scopes
 */
export function scopesOf(asked: readonly string[]): string[] {
  const known = new Set<string>(SCOPES);
  const unknown = asked.find((scope) => !known.has(scope));
  if (unknown !== undefined) throw invalid("scopes", `scopes must be among ${SCOPES.join(", ")}`);
  return asked.length === 0 ? ["*"] : [...new Set(asked)];
}
