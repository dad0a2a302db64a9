import ipaddr from "ipaddr.js";
import { isWithin, parseAddress, type Range } from "./address.ts";

type Rule = { port: number | undefined } & ({ host: string } | { range: Range });

/** What an operator lets guarded requests reach beside the public internet. */
export type AllowList = readonly Rule[];

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Reads `PARLEY_ALLOWED_PRIVATE_HOSTS`: host names, IP addresses, either with a port, and CIDR ranges, comma-separated.
 * @throws Error naming the entry that is none of these.
 */
export function parseAllowList(text: string): AllowList {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(parseEntry);
}

/** Whether a URL's host itself, name or address, is listed: then plain http and any address the name has will do. */
export function allowsHost(allow: AllowList, host: string, port: number): boolean {
  return (
    allowsAddress(allow, host, port) ||
    allow.some((rule) => "host" in rule && rule.host === host && (rule.port ?? port) === port)
  );
}

export function allowsAddress(allow: AllowList, ip: string, port: number): boolean {
  const address = parseAddress(ip);
  if (address === undefined) return false;
  return allow.some((rule) => "range" in rule && isWithin(address, rule.range) && (rule.port ?? port) === port);
}

function parseEntry(entry: string): Rule {
  const rule = parseRange(entry) ?? parseHost(entry);
  if (rule !== undefined) return rule;
  throw new Error(
    `PARLEY_ALLOWED_PRIVATE_HOSTS: "${entry}" is not a host name, an IP address, one of these with a port, or a CIDR range`,
  );
}

function parseRange(entry: string): Rule | undefined {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(entry) || ipaddr.IPv6.isValidCIDR(entry))
    return { range: ipaddr.parseCIDR(entry), port: undefined };
  return ipaddr.IPv6.isValid(entry) ? address(entry, undefined) : undefined;
}

function parseHost(entry: string): Rule | undefined {
  const [, bracketed, plain = "", digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (bracketed !== undefined) return ipaddr.IPv6.isValid(bracketed) ? address(bracketed, port) : undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return address(plain, port);
  const host = URL.parse(`http://${plain}/`)?.hostname ?? "";
  // A name that a URL reads as an address (127.1, 0x7f.1) would be listed as something else than it says.
  return HOST_NAME.test(host) && !ipaddr.isValid(host) && !/[/?#@\\]/.test(plain) ? { host, port } : undefined;
}

function address(ip: string, port: number | undefined): Rule | undefined {
  const parsed = parseAddress(ip);
  return parsed && { range: [parsed, parsed.kind() === "ipv4" ? 32 : 128], port };
}
