import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Sql } from "../db/database.ts";
import { enqueueJob } from "../jobs/store.ts";
import type { Queue } from "../jobs/worker.ts";
import type { EventName } from "../portable/events.ts";
import type { ServiceClient } from "../rpc/client.ts";

/** Where events go that happen outside of the conversation service, which sends them to the webhook dispatcher in order. */
export type EventTaker = Pick<ServiceClient<typeof ConversationServiceService>, "recordEvent">;

/** What has happened to an object, which is as the API shows it. */
interface CausedEvent {
  ownerId: string;
  event: EventName;
  /** Null: about no conversation. */
  conversationId: string | null;
  object: object;
  happenedAt: Date;
}

/** An event with its id. */
interface KeptEvent extends CausedEvent {
  eventUuid: string;
}

const QUEUE = "hand-over-events";
/** The longest that somebody waits for an event to be taken. */
const NOW_WITHIN_MS = 1_000;

/** Keeps an event, in the transaction that causes it, as a job that hands it over. */
export async function keepEvent(tx: Sql, event: CausedEvent): Promise<KeptEvent> {
  // The database's clock orders the events of a conversation, wherever they come from.
  const [{ eventUuid }] = await tx<[{ eventUuid: string }]>`select uuidv7() as event_uuid`;
  const { ownerId, ...payload } = { ...event, eventUuid };
  await enqueueJob(tx, { ownerId, jobId: `${QUEUE}-${eventUuid}`, queue: QUEUE, payload, dueAt: event.happenedAt });
  return { ...event, eventUuid };
}

/** Hands a kept event over at once, before something later in the same conversation is told; if this fails, the job does it. */
export async function handOverNow(taker: EventTaker, event: KeptEvent): Promise<void> {
  await handOver(taker, event).catch(() => {});
}

/** Never gives up. */
export function handOverQueue(taker: EventTaker): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 8,
      run: async ({ ownerId, payload }) => {
        const kept = payload as Omit<KeptEvent, "happenedAt"> & { happenedAt: string };
        await handOver(taker, { ...kept, ownerId, happenedAt: new Date(kept.happenedAt) });
      },
    },
  };
}

async function handOver(taker: EventTaker, { conversationId, object, ...event }: KeptEvent): Promise<void> {
  const request = { ...event, conversationId: conversationId ?? "", object: JSON.stringify(object) };
  await taker.recordEvent(request, { timeoutMs: NOW_WITHIN_MS });
}
