import type { GetOwnerRequest, GetOwnerResponse } from "@parley/proto/parley/account/v1/account_service.ts";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { SendTextRequest } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import type {
  CommandCallRequest,
  CommandCallResponse,
  ForgetRecordingsRequest,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import type {
  BatchAcceptEventsRequest,
  BatchAcceptEventsResponse,
  CountDeliveriesRequest,
  CountDeliveriesResponse,
  ForgetConversationsRequest,
} from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { Handlers } from "@parley/shared/rpc/server";
import type { Agents } from "./agents/agents.ts";
import type { SessionAgents } from "./agents/session-agents.ts";
import type { SendMail } from "./alerts/mailer.ts";
import type { Knowledge } from "./knowledge/knowledge.ts";
import type { ReadLists } from "./lists/list-reader.ts";
import type { Live } from "./live/live.ts";
import type { Model } from "./model/port.ts";
import type { ModelLimits } from "./model/watch.ts";
import type { Room } from "./room.ts";
import type { TurnStore } from "./store/turns/turns-together.ts";
import type { HttpTools } from "./tools/http/call.ts";
import type { ToolLedger } from "./tools/ledger.ts";
import type { McpSessions } from "./tools/mcp/sessions.ts";
import type { ToolSource } from "./tools/toolbox.ts";
import type { RunningTurns } from "./turn/running-turns.ts";
import type { TurnShares } from "./turn/turn-memory.ts";

export interface ConversationContext {
  db: Database;
  readLists: ReadLists;
  agents: Agents;
  sessionAgents: SessionAgents;
  /** Hands events to the webhook dispatcher. */
  acceptEvents(events: BatchAcceptEventsRequest): Promise<BatchAcceptEventsResponse>;
  /** What has come of an owner's webhook deliveries. */
  countDeliveries(request: CountDeliveriesRequest): Promise<CountDeliveriesResponse>;
  /** An owner's account. */
  findOwner(request: GetOwnerRequest): Promise<GetOwnerResponse>;
  /** Null: there is no mail server. */
  sendMail: SendMail | null;
  /** Makes the dispatcher delete what it stores about conversations. */
  forgetConversations(conversations: ForgetConversationsRequest): Promise<unknown>;
  /** Makes the voice service delete their recordings. */
  forgetRecordings(conversations: ForgetRecordingsRequest): Promise<unknown>;
  /** @param log logs each failed attempt @throws ServiceError condition when the provider is not configured */
  selectModel(ownerId: string, llm: LlmConfig, log: Logger): Model;
  /** The same, with a lower limit for the response. */
  selectAnalysisModel(ownerId: string, llm: LlmConfig, log: Logger): Model;
  /** Refuses new conversations and turns of owners without room. */
  room: Room;
  httpTools: HttpTools;
  mcpSessions: McpSessions;
  /** The kinds of tools that agents can have besides the built-in ones. */
  toolSources: readonly ToolSource[];
  knowledge: Knowledge;
  ledger: ToolLedger;
  turns: RunningTurns;
  turnShares: TurnShares;
  turnStore: TurnStore;
  /** Sends an operator's message over the channel of its conversation. */
  sendText(message: SendTextRequest): Promise<unknown>;
  /** Has the process that holds a call do something. @throws ServiceError conflict when none holds it, condition when it cannot */
  commandCall(command: CommandCallRequest): Promise<CommandCallResponse>;
  /** Tells watchers what happens. */
  live: Live;
  limits: ConversationLimits;
  clock: Clock;
}

export interface ConversationLimits {
  /** For all conversations of one owner. */
  ownerBytes: number;
  model: ModelLimits;
  contextTokens: number;
  chatIdleMinutes: number;
  /** How long WhatsApp conversations may be silent. */
  threadIdleMinutes: number;
  /** The most analyses at a time in a process. */
  analysesAtOnce: number;
  /** The most analyses at a time of an owner. */
  analysesPerOwner: number;
  callIdleMinutes: number;
  /** Interval between checkpoints of a streamed reply. */
  checkpointMs: number;
  /** How long a turn whose process died blocks its session. */
  turnLeaseMs: number;
  /** How long a conversation that was taken over may be silent. */
  takeOverIdleMs: number;
}

type Definition = typeof ConversationServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
