import type { Logger } from "@parley/shared/log";
import { askForAnalyses, wantAnalysis } from "../analysis/ask.ts";
import type { ConversationContext } from "../context.ts";
import { withCalls } from "../lists/read-transcript.ts";
import { type DueEvent, deleteEvents, readPayloads, storePayloads } from "../store/conversation-events.ts";
import { keyOf, listPayloadSources } from "../store/payload-sources.ts";
import { listToolCalls } from "../store/turns/tool-calls.ts";
import { eventPayload } from "./payload.ts";
import type { ReadyEvent } from "./send.ts";

/**
 * Returns the due events that can be sent, with their payloads; a payload is stored when it is first built. For the
 * other events it enqueues the analysis of their conversation, which they wait for.
 */
export async function readyToSend(
  ctx: ConversationContext,
  log: Logger,
  events: readonly DueEvent[],
): Promise<ReadyEvent[]> {
  const unbuilt = await withConversation(
    ctx,
    log,
    events.filter(({ isBuilt }) => !isBuilt),
  );
  const wanting = await wantAnalysis(
    ctx,
    unbuilt.filter(({ awaitsAnalysis }) => !awaitsAnalysis),
  );
  const [stored, built] = await Promise.all([
    readPayloads(
      ctx.db,
      events.filter(({ isBuilt }) => isBuilt),
    ),
    build(
      ctx,
      unbuilt.filter((event) => !wanting.includes(event)),
    ),
    // Events without analysis do not wait for the others.
    askForAnalyses(ctx, wanting),
  ]);
  // Keeps the order. A missing event was already sent by another run.
  return events.flatMap((event) => {
    const payload = stored.get(keyOf(event)) ?? built.get(keyOf(event));
    return payload === undefined ? [] : { ...event, payload };
  });
}

type EndedEvent = DueEvent & { agentId: string };

async function withConversation(
  { db }: ConversationContext,
  log: Logger,
  events: readonly DueEvent[],
): Promise<EndedEvent[]> {
  const there = events.filter((event): event is EndedEvent => event.agentId !== null);
  const gone = events.filter(({ agentId }) => agentId === null);
  if (gone.length > 0) {
    log.warn({ events: gone.length }, "conversations were removed before their events were sent");
    await deleteEvents(db, gone);
  }
  return there;
}

/** @returns the stored payloads, by `keyOf` */
async function build({ db, clock }: ConversationContext, unbuilt: readonly DueEvent[]): Promise<Map<string, string>> {
  if (unbuilt.length === 0) return new Map();
  const names = new Map(unbuilt.map((event) => [keyOf(event), event.event]));
  const sources = await listPayloadSources(db, unbuilt);
  const built: { ownerId: string; conversationId: string; payload: string }[] = [];
  for (const source of sources) {
    const { ownerId, conversationId } = source;
    // One after the other, because each may be a megabyte.
    const calls = source.hasToolCalls ? await listToolCalls(db, source, clock.now()) : [];
    const messages = calls.length === 0 ? source.messages : withCalls(source.messages, calls);
    // A payload of a megabyte takes milliseconds.
    built.push({
      ownerId,
      conversationId,
      payload: eventPayload(names.get(keyOf(source)) ?? "", { ...source, messages }),
    });
  }
  return storePayloads(db, built);
}
