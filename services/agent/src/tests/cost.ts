import { type Conversation, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { AskForJsonResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";

/** What models have cost, in millionths of a US dollar, and how many replies have no known cost. */
export interface Cost {
  micros: number;
  unpriced: number;
}

export const NO_COST: Cost = { micros: 0, unpriced: 0 };
/** Of one reply. */
export const UNKNOWN_COST: Cost = { micros: 0, unpriced: 1 };

export function sumCosts(one: Cost, other: Cost): Cost {
  return { micros: one.micros + other.micros, unpriced: one.unpriced + other.unpriced };
}

/** Of a stored conversation's replies. */
export function costOf({ usage }: Conversation): Cost {
  return { micros: usage?.costUsdMicros ?? 0, unpriced: usage?.unpricedReplies ?? 0 };
}

/** Of a conversation that was abandoned. The model may have been asked for a reply that is not stored. */
export function costOfAbandoned(conversation: Conversation): Cost {
  const isUnanswered = conversation.transcript?.messages.at(-1)?.role === Role.ROLE_USER;
  return sumCosts(costOf(conversation), isUnanswered ? UNKNOWN_COST : NO_COST);
}

/** Of a conversation that cannot be read: unknown, unless it never began. */
export function costUnread(error: unknown): Cost {
  return error instanceof ServiceError && error.kind === "not_found" ? NO_COST : UNKNOWN_COST;
}

/** Of a judge's or a simulated user's answer. */
export function costOfAnswer({ costUsd }: AskForJsonResponse): Cost {
  return costUsd === undefined ? UNKNOWN_COST : { micros: Math.round(costUsd * 1_000_000), unpriced: 0 };
}
