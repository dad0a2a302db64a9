import type { ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";

/** Who may call each method; `rest` covers the methods that are not named. */
export interface Admitted extends Readonly<Record<string, readonly string[]>> {
  rest: readonly string[];
}

export type ServiceName =
  | "account"
  | "agent"
  | "prompt"
  | "conversation"
  | "webhook-dispatcher"
  | "voice"
  | "messaging"
  | "knowledge";

/**
 * The processes that each service serves when certificates tell who calls: the arrows of docs/architecture.md, each for
 * its purpose only. So whoever takes over the gateway, which faces the internet, can neither read a model's key nor
 * create an owner. A process is named by a DNS name of its certificate; `parley` is the command line.
 */
export const ADMITTED: Readonly<Record<ServiceName, Admitted>> = {
  account: {
    rest: ["gateway", "parley"],
    GetOwner: ["gateway", "parley", "conversation"],
    CreateOwner: ["parley"],
    ListOwners: ["parley"],
    UpdateOwner: ["parley"],
    DeleteOwner: ["parley"],
    ProveMobileNumber: ["parley"],
    GetCallPolicy: ["gateway", "parley", "voice"],
    SetCallPolicy: ["parley"],
    SetPassword: ["parley"],
    GetCarrierCredentials: ["voice", "messaging"],
    FindCarrier: ["voice", "messaging"],
    FindCarrierOfNumber: ["voice"],
    FindTrunk: ["voice"],
    ListTrunks: ["voice"],
    ListCarriers: ["gateway", "parley", "voice", "messaging"],
    RevealSecrets: ["conversation", "voice"],
    FindSecrets: ["agent"],
    FindLostNumbers: ["agent"],
  },
  agent: {
    rest: ["gateway"],
    BatchGetPointers: ["conversation"],
    FollowPrompt: ["prompt"],
    BatchGetAgentRuntimes: ["conversation"],
    GetDraftRuntime: ["conversation"],
    GetToolRuntime: ["conversation"],
    ReportMcpTools: ["conversation"],
    ListSecretUsers: ["account"],
    RenewKeys: ["account"],
    ListKnowledgeBaseUsers: ["knowledge"],
    GetSpeech: ["voice"],
    ListCallerNumbers: ["voice"],
    FindCallee: ["voice", "messaging"],
    GetWidget: ["messaging", "gateway"],
    GetChannelSettings: ["messaging"],
    ForgetOwner: ["account"],
  },
  prompt: {
    rest: ["gateway"],
    BatchGetPrompts: ["agent"],
    AcquirePrompts: ["agent"],
    SetPromptReferences: ["agent"],
    ForgetOwner: ["account"],
  },
  conversation: {
    rest: ["gateway"],
    SetOwnerSettings: ["account"],
    SetWantedEvents: ["webhook-dispatcher"],
    RecordEvent: ["voice", "agent"],
    ForgetOwner: ["account"],
    GetStatistics: ["gateway", "parley"],
    ListAlerts: ["gateway", "parley"],
    CreateAlert: ["gateway", "parley"],
    UpdateAlert: ["gateway", "parley"],
    DeleteAlert: ["gateway", "parley"],
    // The agent service holds the conversations of tests.
    StartChat: ["gateway", "agent"],
    CompleteTurn: ["messaging", "agent"],
    GetConversation: ["gateway", "agent"],
    ListConversations: ["gateway", "agent"],
    AnalyzeConversation: ["gateway", "agent"],
    AskForJson: ["agent"],
    SetDelivery: ["messaging"],
    CheckRoom: ["messaging"],
    GetCallSetup: ["voice", "voice-runtime"],
    StartConversation: ["voice", "voice-runtime", "messaging"],
    AppendTranscript: ["voice", "voice-runtime", "messaging"],
    Converse: ["voice", "voice-runtime"],
    RunCallTool: ["voice", "voice-runtime"],
    WaitForToolCalls: ["voice", "voice-runtime"],
    GiveClientResult: ["voice", "voice-runtime"],
    AskModel: ["voice", "voice-runtime"],
    CompleteConversation: ["voice", "voice-runtime", "agent"],
    ReportCall: ["voice"],
    ListMcpTools: ["agent"],
    FetchDocument: ["agent"],
  },
  "webhook-dispatcher": {
    rest: ["gateway", "parley"],
    BatchAcceptEvents: ["conversation"],
    ForgetConversations: ["conversation"],
    CountDeliveries: ["conversation"],
    ForgetOwner: ["account"],
  },
  voice: {
    rest: ["gateway"],
    Transcribe: ["messaging"],
    Speak: ["messaging"],
    HoldTestCall: ["agent"],
    ForgetRecordings: ["conversation"],
    CommandCall: ["conversation"],
    ForgetOwner: ["account"],
    SpeakToNumber: ["account"],
    ListTrunkRegistrations: ["gateway", "parley"],
    ListDoNotCall: ["gateway", "parley"],
    AddDoNotCall: ["gateway", "parley"],
    RemoveDoNotCall: ["gateway", "parley"],
  },
  messaging: { rest: ["gateway"], SendText: ["conversation"], ForgetOwner: ["account"] },
  knowledge: {
    rest: ["gateway"],
    ResolveKnowledgeBases: ["agent"],
    GetDocument: ["gateway", "agent"],
    ListDocuments: ["gateway", "agent"],
    GatherKnowledge: ["conversation"],
    ForgetOwner: ["account"],
  },
};

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext">;

/**
 * Returns the refusal of a call that its peer may not make; null when the peer may.
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

/** Reading a certificate costs as much as a small call, and a connection's certificate never changes. */
const known = new WeakMap<object, readonly string[]>();

function namesOf(call: AnyCall): readonly string[] {
  const connection = connectionOf(call);
  const remembered = connection && known.get(connection);
  if (remembered) return remembered;
  const names = dnsNames(call.getAuthContext().sslPeerCertificate?.subjectaltname ?? "");
  if (connection) known.set(connection, names);
  return names;
}

/** Not in grpc-js's public interface; without it, each call reads its certificate. */
function connectionOf(call: AnyCall): object | undefined {
  return (call as { call?: { stream?: { session?: object } } }).call?.stream?.session;
}

function dnsNames(subjectAltName: string): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,"\s]+)(?=,|$)/g)].map(([, name = ""]) => name);
}
