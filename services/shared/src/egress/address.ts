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

/** Whether two texts are addresses or ranges with an address in common. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [rangeOf(one), rangeOf(other)];
  if (!a || !b || a[0].kind() !== b[0].kind()) return false;
  const [wide, narrow] = a[1] <= b[1] ? [a, b] : [b, a];
  return isWithin(narrow[0], wide);
}

/** How many bits of an address a range leaves open, 0 for a single address; null for other texts. */
export function openBitsOf(text: string): number | null {
  const range = rangeOf(text);
  return range && bitsOf(range[0]) - range[1];
}

const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"].map((text) => ipaddr.parseCIDR(text));

/** Whether all addresses of a range are of private networks. */
export function isPrivateRange(text: string): boolean {
  const range = rangeOf(text);
  return range !== null && PRIVATE.some((wide) => range[1] >= wide[1] && isWithin(range[0], wide));
}

function rangeOf(text: string): Range | null {
  const address = parseAddress(text);
  if (address) return [address, bitsOf(address)];
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
}

function bitsOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.kind() === "ipv4" ? 32 : 128;
}

/** Whether an address is in a list of addresses and CIDR ranges, of each of which `openBitsOf` knows the size. */
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
