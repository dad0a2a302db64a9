import { invalid } from "@parley/shared/errors";
import { isLoopback } from "@parley/shared/rpc/tls/credentials";

const LENGTH_MAX = 2_048;

/**
 * Checks the syntax only; this service never requests the address.
 * @throws ServiceError invalid unless it is an https address, or one of this machine
 */
export function checkUrl(field: string, value: string): void {
  const url = URL.parse(value);
  const isFine = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(`${url.hostname}:`));
  if (value.length > LENGTH_MAX || !isFine) {
    throw invalid(field, `${field} must be an https:// address of at most ${LENGTH_MAX} characters`);
  }
}
