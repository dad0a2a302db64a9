import { isIP } from "node:net";
import { dns } from "bun";
import { LRUCache } from "lru-cache";
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

/** For so long, a name's addresses are used without asking again. */
const FRESH_MS = 5_000;
/** For so long, they are used while the name is asked for again (RFC 8767): a query that gets lost takes two seconds. */
const STALE_MS = 60_000;
const NAMES_MAX = 1_000;
/** A name's owner may give it thousands of addresses: each takes 100 bytes, and checking them all tens of milliseconds of every request. */
const KEPT_MAX = 16;

/**
 * Remembers the first addresses of names, whoever asks: a look-up takes half as much CPU as the rest of a request (bench/lessons.md).
 * The look-up of a name with thousands of addresses takes 50 ms, so it is not repeated for a minute.
 */
export function remembered(resolve: Resolve, perf: Pick<Performance, "now"> = performance): Resolve {
  const names = new LRUCache<string, readonly string[]>({
    max: NAMES_MAX,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf,
    async fetchMethod(host, _stale, { options }) {
      const addresses = await resolve(host);
      if (addresses.length > KEPT_MAX) options.ttl = STALE_MS;
      return addresses.slice(0, KEPT_MAX);
    },
    allowStale: true,
    noDeleteOnFetchRejection: true,
  });
  return async (host) => {
    if (names.getRemainingTTL(host) < FRESH_MS - STALE_MS) names.delete(host);
    return (await names.fetch(host)) ?? [];
  };
}

/** `resolveHost` for all requests of a process. */
export const resolveRemembered = remembered(resolveHost);

async function answers(host: string, resolve: Resolve): Promise<readonly string[]> {
  const found = await resolve(host).catch((cause: unknown) => {
    throw new EgressError("unresolvable", `The host name ${host} could not be resolved: check its spelling`, cause);
  });
  if (found.length === 0)
    throw new EgressError("unresolvable", `The host name ${host} has no address: check its spelling`);
  return found;
}
