import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

// Azure's platform endpoint serves every virtual machine at an address that looks public.
const REFUSED_V4 = [ipaddr.IPv4.parseCIDR("168.63.129.16/32")];

// IANA's global unicast range; excludes loopback, mapped, NAT64, ULA, link-local and unassigned addresses.
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an IP address is on the public internet. Refuses IANA's special-purpose registries and every form that embeds
 * an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo). Text that is not an address, or has a zone, is not public.
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip);
  if (address === undefined || address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 ? !REFUSED_V4.some((range) => address.match(range)) : address.match(GLOBAL_V6);
}

/** Reads only canonical spellings: parsed URLs and DNS answers have no others. */
export function parseAddress(ip: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(ip) !== 0 && !ip.includes("%") ? ipaddr.parse(ip) : undefined;
}

/** Whether a text is an address or a CIDR range. */
export function isAddressOrRange(text: string): boolean {
  return parseAddress(text) !== undefined || ipaddr.isValidCIDR(text);
}

/** Whether an address is in a list of addresses and CIDR ranges, each accepted by `isAddressOrRange`. */
export function isListed(ip: string, listed: readonly string[]): boolean {
  const address = parseAddress(ip);
  if (address === undefined) return false;
  return listed.some((text) => {
    const one = parseAddress(text);
    return one ? one.toString() === address.toString() : isWithin(address, ipaddr.parseCIDR(text));
  });
}

export function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}

/** The host of a URL as DNS and TLS write it: an IPv6 address loses its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}
