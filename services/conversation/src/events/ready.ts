import type { Logger } from "@parley/shared/log";
import { askForAnalyses, wantAnalysis } from "../analysis/ask.ts";
import type { ConversationContext } from "../context.ts";
import { withCalls } from "../lists/read-transcript.ts";
import {
  type BuiltPayload,
  type DueEvent,
  deleteEvents,
  eventKeyOf,
  isEnd,
  readPayloads,
  storePayloads,
  type UnbuiltEvent,
} from "../store/events/owner-events.ts";
import { keyOf, listPayloadSources } from "../store/events/payload-sources.ts";
import { listToolCalls } from "../store/turns/tool-calls.ts";
import { newsPayload } from "./news.ts";
import { endPayload } from "./payload.ts";
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
  const ends = unbuilt.filter(isEnd);
  const wanting = await wantAnalysis(
    ctx,
    ends.filter(({ analysis }) => analysis === null),
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
  // Keeps the order. A missing event was already sent by another run, or its payload is built again.
  return events.flatMap((event) => {
    const payload = stored.get(eventKeyOf(event)) ?? built.get(eventKeyOf(event));
    return payload === undefined ? [] : { ...event, payload };
  });
}

async function withConversation(
  { db }: ConversationContext,
  log: Logger,
  events: readonly DueEvent[],
): Promise<UnbuiltEvent[]> {
  const there = events.filter((event): event is UnbuiltEvent => event.agentId !== null);
  const gone = events.filter(({ agentId }) => agentId === null);
  if (gone.length > 0) {
    log.warn({ events: gone.length }, "conversations were removed before their events were sent");
    await deleteEvents(db, gone);
  }
  return there;
}

/** @returns the stored payloads, by `eventKeyOf` */
async function build(ctx: ConversationContext, unbuilt: readonly UnbuiltEvent[]): Promise<Map<string, string>> {
  if (unbuilt.length === 0) return new Map();
  const ends = unbuilt.filter(isEnd);
  const built = await buildEnds(ctx, ends);
  for (const event of unbuilt.filter((each) => !isEnd(each))) {
    const payload = await newsPayload(ctx, event);
    if (payload !== null) built.push({ ...event, payload });
    // What it was about is gone.
    else await deleteEvents(ctx.db, [event]);
  }
  return storePayloads(ctx.db, built);
}

async function buildEnds({ db, clock }: ConversationContext, ends: readonly UnbuiltEvent[]): Promise<BuiltPayload[]> {
  const events = new Map(ends.map((event) => [keyOf(event), event]));
  const built: BuiltPayload[] = [];
  for (const source of await listPayloadSources(db, ends)) {
    const event = events.get(keyOf(source));
    if (!event) continue;
    // One after the other, because each may be a megabyte.
    const calls = source.hasToolCalls ? await listToolCalls(db, source, clock.now()) : [];
    const messages = calls.length === 0 ? source.messages : withCalls(source.messages, calls);
    // A payload of a megabyte takes milliseconds.
    built.push({ ...event, payload: endPayload(event.event, { ...source, messages }) });
  }
  return built;
}
