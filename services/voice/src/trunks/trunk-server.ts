import type { AllowList } from "@parley/shared/egress/allow-list";
import { resolveChecked } from "@parley/shared/egress/resolve";
import { hostAddresses } from "../sip-calls/host-addresses.ts";
import type { Target } from "../transport/sip/sockets.ts";

const PORTS: Record<Target["protocol"], number> = { UDP: 5060, TCP: 5060, TLS: 5061 };

/**
 * Where the server of a trunk is. Its owner gives the host, so it must be public, or allowed by the operator.
 * @param host a name or an address, with a port if it is not the SIP default
 * @throws EgressError
 */
export async function trunkServer(host: string, protocol: Target["protocol"], allow: AllowList): Promise<Target> {
  const [, name = "", given] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? [];
  const port = Number(given ?? PORTS[protocol]);
  const [address = ""] = await resolveChecked(new URL(`http://${name}:${port}`), allow, hostAddresses);
  return { protocol, address, port, host: name.replace(/^\[|\]$/g, "") };
}

/** The protocol for a trunk's `transport`. */
export function protocolOf(transport: string | undefined): Target["protocol"] {
  return transport === "TCP" || transport === "TLS" ? transport : "UDP";
}
