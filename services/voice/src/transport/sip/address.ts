/** The parts of a `sip:` or `sips:` URI that are used here. */
export interface SipUri {
  scheme: "sip" | "sips";
  /** Percent-decoded; "" if there is none. */
  user: string;
  /** IPv6 addresses without brackets. */
  host: string;
  port: number | null;
  params: Map<string, string>;
}

/** The value of From, To, Contact, Route or Refer-To. */
export interface NameAddress {
  uri: string;
  params: Map<string, string>;
}

const URI =
  /^(sips?):(?:([^@;?]{1,256})@)?(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.\-_]{1,253})(?::(\d{1,5}))?((?:;[^?]*)?)(?:\?.*)?$/i;

/** Returns null for other schemes and malformed URIs. A password in the user part is dropped. */
export function readUri(text: string): SipUri | null {
  const [, scheme, user = "", host, port, params = ""] = URI.exec(text) ?? [];
  if (scheme === undefined || host === undefined || Number(port ?? 0) > 65_535) return null;
  const decoded = percentDecoded(user.split(":")[0] as string);
  if (decoded === null) return null;
  return {
    scheme: scheme.toLowerCase() as SipUri["scheme"],
    user: decoded,
    host: host.replace(/^\[|\]$/g, ""),
    port: port ? Number(port) : null,
    params: readParams(params),
  };
}

export function readNameAddress(value: string): NameAddress | null {
  const [, bracketed, after = ""] = /^(?:"(?:\\.|[^"\\])*"|[^<"]*)<([^>]+)>(.*)$/.exec(value) ?? [];
  if (bracketed !== undefined) return { uri: bracketed, params: readParams(after) };
  // Without brackets, parameters are the header's (RFC 3261, section 20).
  const [uri = "", ...params] = value.split(";");
  return /^sips?:/i.test(uri.trim()) ? { uri: uri.trim(), params: readParams(`;${params.join(";")}`) } : null;
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
  params: Map<string, string>;
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

function readParams(text: string): Map<string, string> {
  const params = new Map<string, string>();
  for (const part of text.split(";")) {
    const [name = "", value = ""] = part.split("=", 2);
    if (name.trim() !== "") params.set(name.trim().toLowerCase(), value.trim());
  }
  return params;
}

function writeParams(params: Map<string, string>): string {
  return [...params].map(([name, value]) => (value === "" ? `;${name}` : `;${name}=${value}`)).join("");
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
