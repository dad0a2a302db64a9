import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type {
  ConversationServiceService,
  TestSetup,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Line } from "@parley/shared/domain/tests";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Said } from "./user.ts";

/** What holds the conversations of tests. */
export interface Drivers {
  conversations: Pick<
    ServiceClient<typeof ConversationServiceService>,
    "startChat" | "completeTurn" | "completeConversation" | "getConversation" | "analyzeConversation" | "askForJson"
  >;
  voices: Pick<ServiceClient<typeof VoiceServiceService>, "holdTestCall">;
}

export interface HeldConversation extends AgentKey {
  agentVersion: number;
  conversationId: string;
  setup: TestSetup;
  origin: CallOrigin;
  /** Called once the conversation has its id. */
  begun(conversationId: string): void;
  /** Whether what the user says does not depend on what was said. */
  isScripted: boolean;
  /** What the user says next. @throws when the attempt is no longer wanted */
  next(said: readonly Said[]): Promise<{ line: Line } | { ends: "user" | "system" }>;
}

/** How a conversation ended. */
export interface Held {
  conversationId: string;
  /** Whether the user had no turns left. */
  isCutShort: boolean;
  /** How long each turn's reply took, as its channel measured it; null: not measured. */
  latenciesMs: (number | null)[];
}
