import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { AgentServiceService, GetChannelSettingsResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type {
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { Feature } from "@parley/shared/process/feature";
import type { ServiceClient } from "@parley/shared/rpc/client";

/** A way by which people write to agents: its RPCs, and what the threads ask of it. */
export interface Channel extends Feature<typeof MessagingServiceService> {
  /** Absent if its messages make no threads, because the person waits for the reply. */
  threaded?: ThreadedChannel;
}

/** What every channel is opened with. */
export interface ChannelContext {
  db: Database;
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "findCarrier" | "getCarrierCredentials" | "listCarriers">;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "findCallee" | "getWidget" | "getChannelSettings">;
  conversations: Pick<ServiceClient<typeof ConversationServiceService>, "checkRoom">;
  /** For addresses that others give. */
  guardedFetch: typeof fetch;
  clock: Clock;
  log: Logger;
}

/** What the threads ask of a channel that they answer. */
export interface ThreadedChannel {
  /** Names it in rows and in idempotency keys. */
  name: string;
  /** Names it in errors. */
  label: string;
  conversationType: ConversationType;
  /** Limit for one text. A longer reply is sent in parts. */
  textCharactersMax: number;
  /** The most messages on a UTC day to and from all connections of an owner, replies aside, and from one person. */
  perDay: { messages: number; ofContact: number; refusal: string };
  /** Whether an agent with these settings answers a spoken message by speaking. */
  speaks(settings: GetChannelSettingsResponse): boolean;
  /** Null if the owner has disconnected it, or it is another channel's. */
  connect(ownerId: string, carrierId: string): Promise<Connection | null>;
  /** Counts a message that was sent, or will not be. */
  countSent(outcome: "sent" | "failed"): void;
  /** Counts messages that were dropped because one person wrote too many. */
  countDropped(messages: number): void;
}

/**
 * An owner's connection to a channel. Its requests fail with CarrierRefusal if they would be refused again, and with
 * CarrierUnavailable if another attempt may succeed.
 */
export interface Connection {
  ownerId: string;
  /** The agent that answers; null if there is none. */
  agent(): Promise<string | null>;
  /** The numbers of a conversation with this person. */
  numbersWith(contact: string): Pick<StartConversationRequest, "fromMobileNumber" | "toMobileNumber">;
  /**
   * @param messageId our own, which reports may repeat
   * @returns the channel's id of the message, and the person as the channel names it
   */
  send(to: string, messageId: string, content: Sendable): Promise<{ externalId: string; contact: string }>;
  /** Stores a voice note at the channel. @returns its id */
  upload(audio: Uint8Array): Promise<string>;
  /** Media that someone sent, at most `bytesMax`. */
  download(mediaId: string, bytesMax: number): Promise<Uint8Array>;
}

export type Sendable =
  | { type: "text"; text: string }
  /** A message that begins a conversation, in the channel's own form. */
  | { type: "template"; template: object }
  | { type: "voice"; mediaId: string };
