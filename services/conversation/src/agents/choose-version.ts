import { createHash } from "node:crypto";
import type { AgentPointer } from "@parley/proto/parley/agent/v1/agent.ts";

/** Whose conversation it is, as far as a caller is known. */
export interface Caller {
  conversationId: string;
  /** E.164, of the other party; null or absent if there is none, or it is withheld. */
  mobileNumber?: string | null | undefined;
  /** The client's `metadata.user_id`. */
  userId?: unknown;
}

const SLOTS = 100;

/** The version with which a conversation begins; undefined if none is published. A caller stays with a version while the split has it. */
export function chosenVersion({ publishedVersion, slots, salt }: AgentPointer, caller: Caller): number | undefined {
  return slots.length === 0 ? publishedVersion : slots[slotOf(salt, keyOf(caller))];
}

/** The place of a caller among the slots of a split, whose salt keeps it apart from the places in other splits. */
export function slotOf(salt: string, key: string): number {
  const digest = createHash("sha256").update(`${salt} ${key}`).digest("hex");
  return Number.parseInt(digest.slice(0, 8), 16) % SLOTS;
}

function keyOf({ mobileNumber, userId, conversationId }: Caller): string {
  if (mobileNumber) return mobileNumber;
  const isNamed = (typeof userId === "string" && userId !== "") || typeof userId === "number";
  return isNamed ? String(userId) : conversationId;
}

/** The caller of a conversation, begun or not. */
export function callerOf({
  conversationId,
  callingType,
  toMobileNumber,
  fromMobileNumber,
  metadata,
}: {
  conversationId: string;
  callingType?: string | null | undefined;
  toMobileNumber?: string | null | undefined;
  fromMobileNumber?: string | null | undefined;
  metadata?: Readonly<Record<string, unknown>>;
}): Caller {
  const mobileNumber = callingType === "OUTBOUND" ? toMobileNumber : fromMobileNumber;
  return { conversationId, mobileNumber, userId: metadata?.user_id };
}
