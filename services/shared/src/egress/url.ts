import { isIP } from "node:net";
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
  if (url === null) throw forbidden("The address is not a valid URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw forbidden("The address must start with https://");
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

export function notPublic(host: string): EgressError {
  return forbidden(`${host} is not at a public address: use one that is, unless ${OPERATOR} lists it`);
}

const OPERATOR = "the operator's PARLEY_ALLOWED_PRIVATE_HOSTS";

function forbidden(message: string): EgressError {
  return new EgressError("forbidden", message);
}
