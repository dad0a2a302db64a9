import { invalid } from "@parley/shared/errors";

const LENGTH_MAX = 2_048;

/**
 * Checks the syntax only; this service never requests the address.
 * @throws ServiceError invalid unless it is an https address
 */
export function checkUrl(field: string, value: string): void {
  if (value.length > LENGTH_MAX || URL.parse(value)?.protocol !== "https:") {
    throw invalid(field, `${field} must be an https:// address of at most ${LENGTH_MAX} characters`);
  }
}
