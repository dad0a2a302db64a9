import { afterEach } from "bun:test";
import type { Invite } from "../../src/transport/sip/answering.ts";
import type { Target } from "../../src/transport/sip/sockets.ts";
import {
  type Dropped,
  startUserAgent,
  type UserAgent,
  type UserAgentOptions,
} from "../../src/transport/sip/user-agent.ts";
import { listening } from "../listening.ts";

export interface Phone extends UserAgent {
  /** host and port of `address`, or of `tlsAddress`. */
  server: Target;
  dropped: Partial<Record<Dropped, number>>;
}

/** RTP ports for all phones of a file. */
const PORTS = { first: 20_000, last: 24_999 };

const phones: UserAgent[] = [];
afterEach(() => {
  for (const phone of phones.splice(0)) phone.stop();
});

/** A user agent on loopback that stops after the test. Its round trip is estimated short, so that repetitions come soon. */
export async function phone(
  invited: (invite: Invite) => void = answer(),
  protocol: Target["protocol"] = "UDP",
  options: Pick<UserAgentOptions, "tls" | "authorities" | "t1Ms" | "idleSeconds" | "silentMs"> & {
    rtpPorts?: UserAgentOptions["rtpPorts"];
  } = {},
): Promise<Phone> {
  const dropped: Phone["dropped"] = {};
  const agent = await startUserAgent({
    hostname: "127.0.0.1",
    port: 0,
    rtpPorts: PORTS,
    invited,
    dropped: (reason) => {
      dropped[reason] = (dropped[reason] ?? 0) + 1;
    },
    t1Ms: 20,
    ...options,
  });
  phones.push(agent);
  const address = protocol === "TLS" ? agent.tlsAddress : agent.address;
  const port = Number(address?.split(":")[1]);
  return { ...agent, server: { protocol, address: "127.0.0.1", port }, dropped };
}

/** Answers every call. */
export function answer(to = listening().to): (invite: Invite) => void {
  return (invite) => void invite.accept(to).catch(() => {});
}

/** What a call from one phone to another needs. */
export function to(callee: Phone, signal = new AbortController().signal) {
  return { uri: `sip:agent@${callee.address}`, server: callee.server, from: "<sip:caller@127.0.0.1>", signal };
}
