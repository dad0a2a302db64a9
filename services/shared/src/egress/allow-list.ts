import { makeValidator } from "envalid";
import ipaddr from "ipaddr.js";
import { isWithin, parseAddress, type Range } from "./address.ts";

type Rule = { port: number | undefined } & ({ host: string } | { range: Range });

/** What the operator allows guarded requests to reach besides the public internet. */
export type AllowList = readonly Rule[];

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Parses `PARLEY_ALLOWED_PRIVATE_HOSTS`: comma-separated host names and IP addresses, either with an optional port, and
 * CIDR ranges.
 * @throws Error naming the invalid entry
 */
export function parseAllowList(text: string): AllowList {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(parseEntry);
}

/** The variable `PARLEY_ALLOWED_PRIVATE_HOSTS` in a configuration. */
export const allowList = makeValidator(parseAllowList);

/** Whether a URL's host, name or address, is listed: then plain http and any address of the name are allowed. */
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
  // URLs read names such as 127.1 and 0x7f.1 as addresses, so listing them would allow something else.
  return HOST_NAME.test(host) && !ipaddr.isValid(host) && !/[/?#@\\]/.test(plain) ? { host, port } : undefined;
}

function address(ip: string, port: number | undefined): Rule | undefined {
  const parsed = parseAddress(ip);
  return parsed && { range: [parsed, parsed.kind() === "ipv4" ? 32 : 128], port };
}
