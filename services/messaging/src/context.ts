import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import type { Pace } from "@parley/shared/shares/pace";
import type { Connection, Connections } from "./whatsapp/connections.ts";
import type { Graph } from "./whatsapp/graph.ts";
import type { WidgetTokens } from "./widget/token.ts";

/** The context of work on threads. */
export interface ThreadContext {
  db: Database;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "getWidget" | "getChannelSettings">;
  conversations: Pick<
    ServiceClient<typeof ConversationServiceService>,
    "checkRoom" | "startConversation" | "appendTranscript" | "completeTurn" | "setDelivery"
  >;
  voices: Pick<ServiceClient<typeof VoiceServiceService>, "transcribe" | "speak">;
  connections: Connections;
  graphOf(connection: Connection): Graph;
  /** Memory for voice notes. */
  noteShares: ByteShares;
  count(outcome: "sent" | "failed"): void;
  /** Counts that WhatsApp has refused an owner's access token. */
  countTokenRefused(): void;
  clock: Clock;
  log: Logger;
}

export interface MessagingContext extends ThreadContext {
  /** The most messages a day to and from an owner's WhatsApp numbers, replies aside. */
  whatsAppMessagesPerDay: number;
  /** The most messages a day from one person to an owner's WhatsApp numbers. */
  whatsAppMessagesPerContact: number;
  widgetTokens: WidgetTokens;
  /** The most messages a day from all visitors to an owner's agents. */
  widgetMessagesPerDay: number;
  /** The most messages a day from one address of visitors to an owner's agents. */
  widgetMessagesPerAddress: number;
  /** Counts messages of people who wrote more than one may. */
  countDropped(messages: number): void;
  countRefused(reason: string): void;
  /** Callbacks that are being verified. */
  verifyFewAtOnce: FewAtOnce;
  /** Paces the messages and statuses of an owner's verified callbacks. */
  newsPace: Pace;
  /** Paces the messages of one person; throws at once for one that is too soon. */
  contactPace: Pace;
  /** Verified callbacks of an owner whose messages are being stored. */
  takeFewAtOnce: FewAtOnce;
}

type Definition = typeof MessagingServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
