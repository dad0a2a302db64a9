import { Globe, type LucideIcon, MessageSquare, MessagesSquare, Phone, Video } from "lucide-react";
import type { Schema } from "../../api/client.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

type Conversation = Schema["Conversation"];
export type Channel = Conversation["conversation_type"];
export type Status = Conversation["conversation_status"];
type Outcome = NonNullable<Conversation["outcome"]>;
type Standing = Pick<Conversation, "conversation_status" | "outcome">;

/** The channels in plain words, in the order in which they are shown. */
export const CHANNELS: Record<Channel, { label: string; icon: LucideIcon }> = {
  CHAT: { label: "Chat", icon: MessageSquare },
  WEB: { label: "Web call", icon: Globe },
  TELEPHONY: { label: "Phone", icon: Phone },
  WHATSAPP: { label: "WhatsApp", icon: MessagesSquare },
  DAILY: { label: "Daily", icon: Video },
};

export const STATUSES: Record<Status, { label: string; tone: Tone }> = {
  IN_PROGRESS: { label: "In progress", tone: "accent" },
  COMPLETED: { label: "Completed", tone: "success" },
  DISCONNECTED: { label: "Disconnected", tone: "warning" },
  FAILED: { label: "Failed", tone: "danger" },
};

/** How calls end, which tells more than their status. */
export const OUTCOMES: Record<Outcome, { label: string; tone: Tone }> = {
  SUCCESS: { label: "Completed", tone: "success" },
  NO_ANSWER: { label: "No answer", tone: "warning" },
  BUSY: { label: "Busy", tone: "warning" },
  CANCELLED: { label: "Cancelled", tone: "neutral" },
  HUNG_UP_EARLY: { label: "Hung up early", tone: "warning" },
  ERROR: { label: "Failed", tone: "danger" },
};

export const DIRECTIONS = { INBOUND: "Inbound", OUTBOUND: "Outbound" } as const;

/** How a conversation stands, or how it ended. */
export function standingOf({ conversation_status, outcome }: Standing): { label: string; tone: Tone } {
  return outcome && conversation_status !== "IN_PROGRESS" ? OUTCOMES[outcome] : STATUSES[conversation_status];
}

export function StatusBadge(standing: Standing) {
  const { label, tone } = standingOf(standing);
  return (
    <Badge tone={tone}>
      {standing.conversation_status === "IN_PROGRESS" && (
        <span className="size-1.5 rounded-full bg-current motion-safe:animate-pulse" />
      )}
      {label}
    </Badge>
  );
}

/** @param isIcon leaves the word to the pointer and to screen readers, where room is scarce */
export function ChannelLabel({ channel, isIcon = false }: { channel: Channel; isIcon?: boolean }) {
  const { label, icon: Icon } = CHANNELS[channel];
  return (
    <span className="relative inline-flex items-baseline gap-1.5 whitespace-nowrap" title={isIcon ? label : undefined}>
      <Icon className="size-4 self-center text-muted" aria-hidden />
      <span className={isIcon ? "sr-only" : undefined}>{label}</span>
    </span>
  );
}

/** Whether an owner made the conversation while trying a draft. */
export function isTest({ conversation_metadata }: Pick<Conversation, "conversation_metadata">): boolean {
  return conversation_metadata.is_test_call === true;
}
