import ipaddr from "ipaddr.js";

/**
 * The unit of limits for strangers: an IPv4 address, or the /64 network that an IPv6 site has, in which it may use any address
 * (RFC 6177).
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`)}/64`;
}
