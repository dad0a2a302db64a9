import type { ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";

/** By method who may call it; `rest` are the methods that are not named. */
export interface Admitted extends Readonly<Record<string, readonly string[]>> {
  rest: readonly string[];
}

export type ServiceName = "account" | "agent" | "prompt" | "conversation" | "webhook-dispatcher";

/**
 * Which processes each service serves when certificates tell who calls: the arrows of docs/architecture.md, each for what it is
 * there for, so that whoever takes over the gateway, which the world talks to, gets at no model's key and makes no owner. A process
 * is named by a DNS name of its certificate; `parley` is the command line.
 */
export const ADMITTED: Readonly<Record<ServiceName, Admitted>> = {
  account: {
    rest: ["gateway", "parley"],
    CreateOwner: ["parley"],
    ListOwners: ["parley"],
    UpdateOwner: ["parley"],
    DeleteOwner: ["parley"],
    SetPassword: ["parley"],
  },
  agent: { rest: ["gateway"], BatchGetAgentRuntimes: ["conversation"] },
  prompt: {
    rest: ["gateway"],
    BatchGetPrompts: ["agent"],
    AcquirePrompts: ["agent"],
    SetPromptReferences: ["agent"],
  },
  conversation: {
    rest: ["gateway"],
    SetRetention: ["account"],
    GetCallSetup: ["voice-runtime"],
    StartConversation: ["voice-runtime"],
    AppendTranscript: ["voice-runtime"],
    CompleteConversation: ["voice-runtime"],
  },
  "webhook-dispatcher": {
    rest: ["gateway", "parley"],
    BatchAcceptEvents: ["conversation"],
    ForgetConversations: ["conversation"],
  },
};

/** The processes that each service serves at all. */
export const PEERS: Readonly<Record<ServiceName, readonly string[]>> = {
  account: allOf(ADMITTED.account),
  agent: allOf(ADMITTED.agent),
  prompt: allOf(ADMITTED.prompt),
  conversation: allOf(ADMITTED.conversation),
  "webhook-dispatcher": allOf(ADMITTED["webhook-dispatcher"]),
};

function allOf(admitted: Admitted): readonly string[] {
  return [...new Set(Object.values(admitted).flat())];
}

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext">;

/**
 * What a call is refused with whose peer may not make it, null when it may go on.
 * @param admitted null admits everybody
 * @param path of the method, `/package.Service/Method`
 */
export function refusePeer(admitted: Admitted | null, path: string, call: AnyCall): StatusObject | null {
  if (admitted === null) return null;
  const peers = admitted[path.slice(path.lastIndexOf("/") + 1)] ?? admitted.rest;
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
