import type { Logger } from "@parley/shared/log";
import { askForAnalyses, wantAnalysis } from "../analysis/ask.ts";
import type { ConversationContext } from "../context.ts";
import { deleteEvents, type EventRow, storePayloads } from "../store/conversation-events.ts";
import { type ConversationRow, findConversations } from "../store/conversations.ts";
import { listTranscripts, type MessageRow } from "../store/messages.ts";
import { eventPayload } from "./payload.ts";
import type { ReadyEvent } from "./send.ts";

/** An event and what its payload is made of. */
interface Unbuilt {
  event: EventRow;
  row: ConversationRow;
  messages: readonly MessageRow[];
}

/**
 * Those of due events that can be sent, each with its payload, which is stored when it is first built. The others wait from now
 * on for the analysis of their conversation, which is asked for here (decisions.md: Webhooks).
 */
export async function readyToSend(
  ctx: ConversationContext,
  log: Logger,
  events: readonly EventRow[],
): Promise<ReadyEvent[]> {
  const ready = events.filter((event): event is ReadyEvent => event.payload !== null);
  const unbuilt = await readEnded(
    ctx,
    log,
    events.filter((event) => event.payload === null),
  );
  const wanting = await wantAnalysis(
    ctx,
    unbuilt.filter(({ event }) => !event.awaitsAnalysis),
  );
  await askForAnalyses(
    ctx,
    wanting.map(({ event }) => event),
  );
  return [
    ...ready,
    ...(await build(
      ctx,
      unbuilt.filter((each) => !wanting.includes(each)),
    )),
  ];
}

async function readEnded({ db }: ConversationContext, log: Logger, events: readonly EventRow[]): Promise<Unbuilt[]> {
  if (events.length === 0) return [];
  const rows = new Map((await findConversations(db, events)).map((row) => [row.conversationId, row]));
  const owners = Object.entries(Object.groupBy(rows.values(), (row) => row.ownerId));
  const transcripts = await Promise.all(
    owners.map(([ownerId, own = []]) =>
      listTranscripts(
        db,
        ownerId,
        own.map((row) => row.conversationId),
      ),
    ),
  );
  const messages = new Map(transcripts.flatMap((transcript) => [...transcript]));
  const gone = events.filter((event) => !rows.has(event.conversationId));
  if (gone.length > 0) {
    log.warn({ events: gone.length }, "conversations were removed before their events were sent");
    await deleteEvents(db, gone);
  }
  return events.flatMap((event) => {
    const row = rows.get(event.conversationId);
    return row ? { event, row, messages: messages.get(event.conversationId) ?? [] } : [];
  });
}

async function build({ db }: ConversationContext, unbuilt: readonly Unbuilt[]): Promise<ReadyEvent[]> {
  if (unbuilt.length === 0) return [];
  const built = unbuilt.map(({ event, row, messages }) => ({
    ...event,
    payload: eventPayload(event.event, row, messages),
  }));
  const stored = await storePayloads(db, built);
  // One that is not there any more another run has sent.
  return built.flatMap((event) => {
    const payload = stored.get(event.conversationId);
    return payload === undefined ? [] : { ...event, payload };
  });
}
