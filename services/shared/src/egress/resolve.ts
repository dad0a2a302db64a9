import { isIP } from "node:net";
import { dns } from "bun";
import { hostOf, isPublicAddress, portOf } from "./address.ts";
import { type AllowList, allowsAddress, allowsHost } from "./allow-list.ts";
import { EgressError } from "./error.ts";
import { notPublic } from "./url.ts";

/** Returns the IP addresses of a host name, preferred first. Rejects or returns `[]` for a name without any. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Returns the addresses to which a connection for `url` may be made, from one look-up. One bad address refuses them
 * all: a name that mixes public and private addresses is an attack or a mistake.
 * @throws EgressError forbidden, unresolvable
 */
export async function resolveChecked(url: URL, allow: AllowList, resolve: Resolve): Promise<readonly string[]> {
  const host = hostOf(url);
  const port = portOf(url);
  const addresses = isIP(host) === 0 ? await answers(host, resolve) : [host];
  const named = allowsHost(allow, host, port);
  const isAllowed = (ip: string) => isIP(ip) !== 0 && (named || isPublicAddress(ip) || allowsAddress(allow, ip, port));
  if (!addresses.every(isAllowed)) throw notPublic(host);
  return addresses;
}

/** Returns a name's addresses from the hosts file or DNS. @throws when there are none, or no name server answers */
export async function resolveHost(host: string): Promise<string[]> {
  // The C library's look-up holds one of few threads until it ends, so four silent name servers would block all
  // look-ups.
  const found = await dns.lookup(host, { backend: "c-ares" });
  return found.map(({ address }) => address);
}

async function answers(host: string, resolve: Resolve): Promise<readonly string[]> {
  const found = await resolve(host).catch((cause: unknown) => {
    throw new EgressError("unresolvable", `The host name ${host} could not be resolved: check its spelling`, cause);
  });
  if (found.length === 0)
    throw new EgressError("unresolvable", `The host name ${host} has no address: check its spelling`);
  return found;
}
