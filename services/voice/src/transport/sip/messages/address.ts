import { type Params, paramsOf, positionsOf, readParams, split, unquoted, writeParams } from "./grammar.ts";
import type { SipMessage } from "./message.ts";

/** The parts of a `sip:`, `sips:` or `tel:` URI that are used here. */
export interface SipUri {
  scheme: "sip" | "sips" | "tel";
  /** Percent-decoded, without parameters of its own, such as those of a ported number; "" if there is none. */
  user: string;
  /** IPv6 addresses without brackets; "" of a `tel:` URI. */
  host: string;
  port: number | null;
  params: Params;
}

/** The value of From, To, Contact, Route or Refer-To. */
interface NameAddress {
  /** The display name, without quotes; "" if there is none. */
  name: string;
  uri: string;
  params: Params;
}

const TEL = /^tel:([^;?]{1,64})((?:;[^?]*)?)$/i;
const SIP =
  /^(sips?):(?:([^@?]{1,256})@)?(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.\-_]{1,253})(?::(\d{1,5}))?((?:;[^?]*)?)(?:\?.*)?$/i;

/** Returns null for other schemes and malformed URIs. A password in the user part is dropped. */
export function readUri(text: string): SipUri | null {
  const [, number, numberParams = ""] = TEL.exec(text) ?? [];
  if (number !== undefined) {
    const params = readParams(numberParams);
    const subscriber = subscriberOf(number, params);
    return subscriber === null ? null : { scheme: "tel", user: subscriber, host: "", port: null, params };
  }
  const [, scheme, user = "", host, port, params = ""] = SIP.exec(text) ?? [];
  if (scheme === undefined || host === undefined || Number(port ?? 0) > 65_535) return null;
  const [name = "", ...userParams] = (user.split(":")[0] as string).split(/;|%3b/i);
  const decoded = subscriberOf(name, paramsOf(userParams));
  if (decoded === null) return null;
  return {
    scheme: scheme.toLowerCase() as SipUri["scheme"],
    user: decoded,
    host: host.replace(/^\[|\]$/g, ""),
    port: port ? Number(port) : null,
    params: readParams(params),
  };
}

/** RFC 3966: a local number is completed by its context. Null if it is malformed. */
function subscriberOf(number: string, params: Params): string | null {
  const decoded = percentDecoded(number);
  const context = params.get("phone-context") ?? "";
  return decoded !== null && !decoded.startsWith("+") && context.startsWith("+") ? `${context}${decoded}` : decoded;
}

/**
 * Reads `"Name" <uri>;param`. Without brackets, the parameters are the header's (RFC 3261, section 20), and a name may stand before the
 * address all the same. The address may have any scheme. Returns null if there is none.
 */
export function readNameAddress(value: string): NameAddress | null {
  const [address = "", ...rest] = split(value, ";");
  const params = paramsOf(rest);
  const [opened] = positionsOf("<", address);
  if (opened === undefined) {
    const uri = split(address, " ").at(-1) ?? "";
    return hasScheme(uri) ? { name: unquoted(address.slice(0, -uri.length).trim()), uri, params } : null;
  }
  const closed = address.indexOf(">", opened);
  const uri = address.slice(opened + 1, closed).trim();
  return closed > 0 && hasScheme(uri) ? { name: unquoted(address.slice(0, opened).trim()), uri, params } : null;
}

/** The addresses of a header. */
export function addressesIn({ headers }: SipMessage, header: string): NameAddress[] {
  return (headers.get(header) ?? []).map(readNameAddress).filter((address) => address !== null);
}

/** The first address of a header. */
export function addressIn(message: SipMessage, header: string): NameAddress | null {
  return addressesIn(message, header)[0] ?? null;
}

/** What a dialog knows the party of From or To by. */
export function tagOf(message: SipMessage, header: "from" | "to"): string | undefined {
  return addressIn(message, header)?.params.get("tag");
}

function hasScheme(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(uri);
}

/** A host and port as URIs and Via write them. */
export function hostPort(host: string, port: number | null): string {
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return port === null ? bracketed : `${bracketed}:${port}`;
}

export interface Via {
  protocol: "UDP" | "TCP" | "TLS";
  host: string;
  port: number | null;
  params: Params;
}

export function readVia(value: string): Via | null {
  const [, protocol, host, port, params = ""] =
    /^SIP\s*\/\s*2\.0\s*\/\s*(UDP|TCP|TLS)\s+(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.\-_]+)(?:\s*:\s*(\d{1,5}))?\s*(;.*)?$/i.exec(
      value,
    ) ?? [];
  if (protocol === undefined || host === undefined || Number(port ?? 0) > 65_535) return null;
  return {
    protocol: protocol.toUpperCase() as Via["protocol"],
    host: host.replace(/^\[|\]$/g, ""),
    port: port ? Number(port) : null,
    params: readParams(params),
  };
}

export function writeVia({ protocol, host, port, params }: Via): string {
  return `SIP/2.0/${protocol} ${hostPort(host, port)}${writeParams(params)}`;
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
