import { tooLargeDetail } from "../../http/body.ts";
import { NAMED } from "../../http/params.ts";
import { isPublic, type Operation } from "../operation.ts";

/** The body of an error response. */
export function problemExample(status: number, path: string, operation: Operation): object {
  if (status === 422) {
    const [field = "page"] = Object.keys((operation.body ?? operation.query)?.properties ?? {});
    const message = `${field} is not valid`;
    return { detail: message, errors: [{ path: field, message }] };
  }
  const detail = detailOf(status, path, operation);
  const reference = status === 404 ? REFERENCES[operation.id] : undefined;
  return { detail, ...(reference !== undefined && { errors: [{ path: reference, message: detail }] }) };
}

function detailOf(status: number, path: string, { id, scope, body, bodyBytesMax }: Operation): string | undefined {
  switch (status) {
    case 400:
      return CONDITIONS[id] ?? (body ? "The request body must be a JSON object" : DETAILS[400]);
    case 403:
      return isPublic(scope) ? `The API key lacks the scope ${scope}` : "The request comes from another site's page";
    case 401:
      return UNAUTHENTICATED[id] ?? (isPublic(scope) ? "API key is missing" : "Not signed in");
    case 404:
      return `${MISSING[id] ?? NAMED[path.match(/\{(\w+)\}[^{]*$/)?.[1] ?? ""] ?? "Agent"} not found`;
    case 409:
      return CONFLICTS[id];
    case 413:
      return tooLargeDetail(bodyBytesMax);
    case 502:
      return REFUSED[id] ?? (isPublic(scope) ? DETAILS[502] : CARRIER_REFUSED);
    default:
      return DETAILS[status];
  }
}

export const DETAILS: Readonly<Record<number, string>> = {
  400: "A condition is not met",
  408: "The request body must arrive within 10 seconds",
  416: "The recording has 48213 bytes",
  415: "The request body must be sent with Content-Type: application/json",
  429: "Rate limit of 500 requests per minute exceeded",
  500: "Internal Server Error: request 0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c, a service failed",
  502: "The OPENAI model provider failed",
  503: "The agent service is unreachable. Try again.",
  504: "The OPENAI model provider did not begin to answer in time",
};

// By operation ID, where an operation has its own text.

const CARRIER_REFUSED = "The carrier refused: 20404: The requested resource was not found";
const START_FAILED = "The agent's start webhook failed: The server answered with HTTP status 500";
const REFUSED: Readonly<Record<string, string>> = {
  startChat: START_FAILED,
  startTestChat: START_FAILED,
  createDailySession: "Daily refused: authentication-error: the API key is not valid",
};

const UNAUTHENTICATED: Readonly<Record<string, string>> = { signIn: "Invalid email or password" };

const LONG_GREETING =
  "The agent's first_message_prompt is longer than 100000 characters once its dynamic variables are filled in: shorten their values";
const CONDITIONS: Readonly<Record<string, string>> = {
  sendMessage: "message must be 1 to 4000 characters",
  startChat: LONG_GREETING,
  startTestChat: LONG_GREETING,
  getChatSession: "Session is not a chat session",
  listenToConversation: "Only a call can be listened to",
  controlConversation: "Only a call can be transferred to a number",
  createTestFromConversation: "The user of this conversation said nothing, so there is nothing to test",
  analyzeConversation: "Conversation is in progress: it can be analyzed after it ends",
  activateKey: "API key has expired. Create a new one.",
  deactivateKey: "API key has expired. Create a new one.",
  sendTestEvent: "Destination is disabled: enable it first",
  resendFailedDeliveries: "Destination is disabled: enable it first",
  createDailySession: "Daily is not configured",
  callWithCode:
    "This installation makes no calls that tell codes: ask its operator to prove your number, or to set PARLEY_CODE_CALLS_OWNER",
  connectCarrier: "The Twilio account is suspended: it must be active",
  listCarrierNumbers: "DAILY has no phone numbers to import",
  importCarrierNumber: "Carriers cannot reach this installation: its operator must set PARLEY_PUBLIC_URL",
  tryStartWebhook: "Agent has no start webhook: set start_webhook",
  tryTool: "Only HTTP tools can be tried here: the client of a conversation makes the calls of a client tool",
  acceptToolChanges: "Only tools of MCP servers change by themselves: this one has nothing to accept",
  refreshDocument: "The document has no url to fetch: replace its content instead",
  rotateToolSecret: "Only HTTP tools have a signing secret: this one makes no requests",
  resendDelivery: "Delivery is still pending: it can be resent after it ends",
};

const NUMBER_TAKEN =
  "agent_mobile_number +14155550123 is already answered by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: take it over with ?move_numbers=true";
const CONVERSATIONS_FULL =
  "Your conversations would have more than 107,374,182,400 bytes together: keep them for fewer days (Settings), or have the operator raise PARLEY_CONVERSATIONS_OWNER_BYTES";
const PROMPTS_FULL =
  "Prompts and their versions would have more than 1,073,741,824 bytes together: delete prompts that you no longer need";
const DOCUMENTS_FULL =
  "Documents would have more than 1,073,741,824 bytes together: delete documents that you no longer need";
const TEST_NAMED = "The agent has a test with the name Looks up an order already";
const RUNS_OPEN = "10 runs and replays of yours have not ended: wait for one, or cancel it";
const CONFLICTS: Readonly<Record<string, string>> = {
  publishAgentVersion: "Version 1 cannot be published: prompt refunds is gone. Make a version without them",
  getAgent: "Agent has no published version",
  setAgentTraffic: "Agent has no published version: publish one before you split its traffic",
  deletePrompt:
    "Prompt refunds is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: give every agent another prompt, in published versions too, before deleting it",
  createPrompt: PROMPTS_FULL,
  updatePrompt: PROMPTS_FULL,
  restorePromptVersion: PROMPTS_FULL,
  setPromptLabel: "A prompt has at most 100 labels: delete one of refunds first",
  deletePromptLabel:
    "Label production of prompt refunds is used by the agent Front desk: give every agent another label or a version, in published versions too, before deleting it",
  sendMessage: "A reply is in progress in this session. Wait for it to end.",
  controlConversation:
    "The session ses_01m7yyhwpyegyarwxc0gvz1xd5 has taken this conversation over since 2026-11-29T08:00:00.000Z",
  listenToConversation: "The conversation has ended",
  startChat: CONVERSATIONS_FULL,
  startTestChat: CONVERSATIONS_FULL,
  createCall: CONVERSATIONS_FULL,
  createWebCall: CONVERSATIONS_FULL,
  resumeCallBatch: "The batch was cancelled, so it cannot be resumed: create another one",
  createDailySession: CONVERSATIONS_FULL,
  sendWhatsAppMessage: CONVERSATIONS_FULL,
  createAgent: NUMBER_TAKEN,
  updateAgent: NUMBER_TAKEN,
  createKey: "There are 200 API keys already: delete one first",
  createDestination: "There are 50 destinations already: delete one first",
  createTest: TEST_NAMED,
  createTestFromConversation: TEST_NAMED,
  updateTest: TEST_NAMED,
  runTests: RUNS_OPEN,
  createReplay: RUNS_OPEN,
  createTool: "There is a tool with the name look_up_order already",
  updateTool: "There is a tool with the name look_up_order already",
  deleteTool:
    "Tool look_up_order is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: take it out of their custom_tools, in published versions too, before deleting it",
  deleteAgent:
    "Agent agt_01m7yyhwpyegyarwxc0gvz1xd5 takes over conversations from the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: take it out of their handoffs, in published versions too, before deleting it",
  createKnowledgeBase: DOCUMENTS_FULL,
  updateKnowledgeBase: DOCUMENTS_FULL,
  deleteKnowledgeBase:
    "Knowledge base Price lists is used by the agent Front desk: take it out of every agent, in published versions too, before deleting it",
  createDocument: DOCUMENTS_FULL,
  replaceDocument: DOCUMENTS_FULL,
  createAlert: "There are 50 alerts already: delete one first",
  createSecret: "There is a secret with the name shop_api_key already",
  deleteSecret:
    "Secret shop_api_key is used by the tool look_up_order: take it out of every tool, in published versions too, before deleting it",
  addMobileNumber: "mobile_number +14155550123 already belongs to this owner",
  proveMobileNumber: "mobile_number +14155550123 belongs to another owner",
  connectCarrier: "There are 100 carriers already: disconnect one first",
  disconnectCarrier: "2 phone numbers were imported from this carrier: remove them first",
  importCarrierNumber: "mobile_number +14155550123 belongs to another owner",
  addClonedVoice: "voice_id acme-receptionist was added before: remove it first",
};

/** What is not found, where it is not what the last parameter of the path names; without parameters, it is the agent in the body. */
const MISSING: Readonly<Record<string, string>> = {
  createAgent: "Prompt",
  getRecording: "Recording",
  removeDoNotCall: "Number on the do-not-call list",
};

/** The field of the body that refers to what is not found, where the error names it. */
const REFERENCES: Readonly<Record<string, string>> = { createAgent: "prompt.prompt_name" };
