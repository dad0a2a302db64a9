import type { ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";

/**
 * Which processes each service serves when certificates tell who calls: the arrows of docs/architecture.md. A process is named
 * by a DNS name of its certificate; `parley` is the command line.
 */
export const PEERS = {
  account: ["gateway", "parley"],
  agent: ["gateway", "conversation"],
  prompt: ["gateway", "agent"],
  conversation: ["gateway", "account", "voice-runtime"],
  "webhook-dispatcher": ["gateway", "conversation", "parley"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ServiceName = keyof typeof PEERS;

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext">;

/** What a call is refused with whose peer is none of `peers`, null when it may go on. @param peers null admits everybody */
export function refusePeer(peers: readonly string[] | null, call: AnyCall): StatusObject | null {
  if (peers === null) return null;
  const names = namesOf(call);
  if (names.some((name) => peers.includes(name))) return null;
  const who = names.length > 0 ? `A peer with the names ${names.join(", ")}` : "A peer without a name";
  return { code: status.PERMISSION_DENIED, details: `${who} is not served here`, metadata: new Metadata() };
}

/** To read a certificate costs as much as a small call, and a connection's stays the same. */
const known = new WeakMap<object, readonly string[]>();

function namesOf(call: AnyCall): readonly string[] {
  const connection = connectionOf(call);
  const remembered = connection && known.get(connection);
  if (remembered) return remembered;
  const names = dnsNames(call.getAuthContext().sslPeerCertificate?.subjectaltname ?? "");
  if (connection) known.set(connection, names);
  return names;
}

/** Not in the public interface of grpc-js; without it each call reads its certificate. */
function connectionOf(call: AnyCall): object | undefined {
  return (call as { call?: { stream?: { session?: object } } }).call?.stream?.session;
}

function dnsNames(subjectAltName: string): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,"\s]+)(?=,|$)/g)].map(([, name = ""]) => name);
}
