import { ConfigError } from "@parley/shared/config";
import ipaddr from "ipaddr.js";

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** @throws ConfigError naming the entry that is not a CIDR */
export function parseTrustedProxies(text: string): Cidr[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      try {
        return ipaddr.parseCIDR(entry);
      } catch {
        throw new ConfigError(`PARLEY_TRUSTED_PROXIES: "${entry}" is not a CIDR such as 10.0.0.0/8`);
      }
    });
}

/**
 * Returns the address a request comes from: the socket's peer, or behind trusted proxies the right-most address in
 * X-Forwarded-For that is not one of theirs.
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: readonly Cidr[]): string {
  let address = peer;
  const hops = forwardedFor?.split(",").map((hop) => hop.trim()) ?? [];
  while (isTrusted(address, trusted)) {
    const hop = hops.pop();
    if (hop === undefined || !ipaddr.isValid(hop)) break;
    address = hop;
  }
  return address;
}

function isTrusted(address: string, trusted: readonly Cidr[]): boolean {
  if (trusted.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trusted.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits));
}
