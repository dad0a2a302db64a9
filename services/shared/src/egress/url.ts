import { isIP } from "node:net";
import { invalid } from "../errors.ts";
import { hostOf, isPublicAddress, portOf } from "./address.ts";
import { type AllowList, allowsHost } from "./allow-list.ts";
import { EgressError } from "./error.ts";

/**
 * Checks an address that a user gives as far as that is possible without DNS (docs/api-reference.md#outgoing-requests). Callers do it
 * when they store the address and before each request.
 * @throws EgressError forbidden, saying which rule is broken.
 */
export function checkUrl(text: string, allow: AllowList): URL {
  const url = URL.parse(text);
  if (url === null && /^https?:\/\//i.test(text)) throw forbidden("The address is not a valid URL");
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw forbidden("The address must start with https://");
  if (url.username !== "" || url.password !== "")
    throw forbidden("The address must not contain a user name or password");
  if (text.includes("#")) throw forbidden("The address must not contain a fragment (#)");
  if (url.port === "0") throw forbidden("The address has no valid port");

  const host = hostOf(url);
  if (host.endsWith(".")) throw forbidden("The host name must not end in a dot");
  if (allowsHost(allow, host, portOf(url))) return url;
  if (url.protocol === "http:")
    throw forbidden(`The address must start with https://, unless ${OPERATOR} lists ${host}`);
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host);
  if (host === "localhost" || host.endsWith(".localhost")) throw notPublic(host);
  return url;
}

/** The same for a field of a request. @throws ServiceError invalid at an address that would be refused, but only when it is asked */
export function checkAddress(field: string, url: string, allow: AllowList): void {
  try {
    checkUrl(url, allow);
  } catch (error) {
    throw error instanceof EgressError ? invalid(field, `${field} cannot be used: ${error.message}`) : error;
  }
}

/** Checked addresses that are remembered, and the length of the longest of them: about 2 MiB at most. */
const REMEMBERED_MAX = 1_000;
const REMEMBERED_LENGTH_MAX = 512;

/**
 * `checkUrl` for requests that go to the same addresses again and again: it remembers which it has found good, because a check
 * costs as much as a fifteenth of a short request.
 * @returns a check whose URLs must not be changed
 */
export function urlChecker(allow: AllowList): (text: string) => URL {
  const checked = new Map<string, URL>();
  return (text) => {
    const known = checked.get(text);
    if (known) return known;
    const url = checkUrl(text, allow);
    if (text.length > REMEMBERED_LENGTH_MAX) return url;
    const [oldest] = checked.size < REMEMBERED_MAX ? [] : checked.keys();
    if (oldest !== undefined) checked.delete(oldest);
    checked.set(text, url);
    return url;
  };
}

export function notPublic(host: string): EgressError {
  return forbidden(`${host} is not at a public address: use one that is, unless ${OPERATOR} lists it`);
}

const OPERATOR = "the operator's PARLEY_ALLOWED_PRIVATE_HOSTS";

function forbidden(message: string): EgressError {
  return new EgressError("forbidden", message);
}
