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
import type { ThreadedChannel } from "./channels/channel.ts";

/** The context of work on threads. */
export interface ThreadContext {
  db: Database;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "getChannelSettings">;
  conversations: Pick<
    ServiceClient<typeof ConversationServiceService>,
    "startConversation" | "appendTranscript" | "completeTurn" | "setDelivery"
  >;
  voices: Pick<ServiceClient<typeof VoiceServiceService>, "transcribe" | "speak">;
  /** The channel with this name. */
  channelOf(name: string): ThreadedChannel;
  /** Memory for voice notes. */
  noteShares: ByteShares;
  clock: Clock;
  log: Logger;
}

type Definition = typeof MessagingServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
