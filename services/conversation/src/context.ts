import type { AgentRuntime, LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type {
  BatchAcceptEventsRequest,
  BatchAcceptEventsResponse,
  ForgetConversationsRequest,
} from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { BoundedRead } from "@parley/shared/bounded-reads";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { FewAtOnce } from "@parley/shared/few-at-once";
import type { Logger } from "@parley/shared/log";
import type { ReadLists } from "./lists/list-reader.ts";
import type { Model } from "./model/port.ts";
import type { ModelLimits } from "./model/watch.ts";
import type { RunningTurns } from "./turn/running-turns.ts";
import type { TurnShares } from "./turn/turn-memory.ts";

export interface ConversationContext {
  db: Database;
  readLists: ReadLists;
  searchFewAtOnce: FewAtOnce;
  boundedRead: BoundedRead;
  /** @throws ServiceError forbidden for another owner's agent, not_found for none */
  getAgent(ownerId: string, agentId: string): Promise<AgentRuntime>;
  /** The same with the text of its analysis prompt. */
  getAnalyzingAgent(ownerId: string, agentId: string): Promise<AgentRuntime>;
  /** Gives events to the webhook dispatcher. */
  acceptEvents(events: BatchAcceptEventsRequest): Promise<BatchAcceptEventsResponse>;
  /** Has it remove what it was told of conversations. */
  forgetConversations(conversations: ForgetConversationsRequest): Promise<unknown>;
  /**
   * @param log gets a line for each attempt that fails
   * @throws ServiceError condition when the provider cannot be used here
   */
  selectModel(llm: LlmConfig, log: Logger): Model;
  /** The same, of whose answers less is read. */
  selectAnalysisModel(llm: LlmConfig, log: Logger): Model;
  turns: RunningTurns;
  turnShares: TurnShares;
  limits: ConversationLimits;
  clock: Clock;
}

export interface ConversationLimits {
  model: ModelLimits;
  contextTokens: number;
  chatIdleMinutes: number;
  /** By this process. */
  analysesAtOnce: number;
  /** Of these, of one owner's conversations. */
  analysesPerOwner: number;
  callIdleMinutes: number;
  /** Between two checkpoints of a reply that is being streamed. */
  checkpointMs: number;
  /** How long a turn whose process died keeps its session from the next one. */
  turnLeaseMs: number;
}
