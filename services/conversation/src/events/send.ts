import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { idOf } from "@parley/shared/ids";
import type { ConversationContext } from "../context.ts";
import type { EventRow } from "../store/events/owner-events.ts";

/** An event with its payload, which is the same in every attempt. */
export interface ReadyEvent extends EventRow {
  payload: string;
}

export interface Failure {
  event: EventRow;
  error: unknown;
}

/** The outcome of sending events; events in none of the lists were not tried. */
export interface SendOutcome {
  sent: ReadyEvent[];
  /** The dispatcher refused them; a newer one may accept them. */
  refused: Failure[];
  /** The call failed, so whether they were accepted is unknown. */
  failed: Failure[];
}

type Dispatcher = Pick<ConversationContext, "acceptEvents">;

/**
 * Limits for one call; the first call is wasted when the dispatcher is down, and both processes encode or decode a call in one
 * turn of their event loops.
 */
const EVENTS_MAX = 25;
const BYTES_MAX = 1024 * 1024;
/** Upper bound for an event without its payload. */
const FRAME_BYTES = 4096;

/**
 * Sends events in batches. Stops when the first call is not answered.
 * @param mayBeSent asked before each call; once it returns false, the rest is not tried
 */
export async function sendEvents(
  dispatcher: Dispatcher,
  events: readonly ReadyEvent[],
  mayBeSent: () => boolean = () => true,
): Promise<SendOutcome> {
  const outcome: SendOutcome = { sent: [], refused: [], failed: [] };
  for (const call of callsOf(events)) {
    await send(dispatcher, call, outcome, mayBeSent);
    if (hadNoAnswer(outcome)) break;
  }
  return outcome;
}

/** Whether the dispatcher cannot be reached. One that only takes too long may do so because of these events. */
export function isUnreachable(outcome: SendOutcome): boolean {
  return hadNoAnswer(outcome) && outcome.failed.some(({ error }) => kindOf(error) !== "deadline");
}

/** Whether nothing but calls without an answer has come of the events tried. */
function hadNoAnswer({ sent, refused, failed }: SendOutcome): boolean {
  return failed.length > 0 && sent.length + refused.length === 0 && failed.every(({ error }) => isAway(error));
}

function bytesOf({ payload }: ReadyEvent): number {
  return Buffer.byteLength(payload) + FRAME_BYTES;
}

/** Keeps the order; an event larger than the limit gets a call of its own. */
function callsOf(events: readonly ReadyEvent[]): ReadyEvent[][] {
  const calls: ReadyEvent[][] = [];
  let bytes = 0;
  for (const event of events) {
    const more = bytesOf(event);
    const last = calls.at(-1);
    if (last && last.length < EVENTS_MAX && bytes + more <= BYTES_MAX) {
      last.push(event);
      bytes += more;
    } else {
      calls.push([event]);
      bytes = more;
    }
  }
  return calls;
}

async function send(
  dispatcher: Dispatcher,
  events: ReadyEvent[],
  outcome: SendOutcome,
  mayBeSent: () => boolean,
): Promise<void> {
  if (!mayBeSent()) return;
  try {
    const { results } = await dispatcher.acceptEvents({ events: events.map(toRequest) });
    for (const [at, event] of events.entries()) {
      const refusal = results[at]?.refusal;
      if (refusal === undefined) outcome.sent.push(event);
      else outcome.refused.push({ event, error: new ServiceError("invalid", refusal) });
    }
  } catch (error) {
    // The dispatcher is up but the call failed, perhaps because of one event: send them one by one so that it does not
    // block the others.
    if (events.length > 1 && !isAway(error))
      for (const event of events) await send(dispatcher, [event], outcome, mayBeSent);
    else for (const event of events) outcome.failed.push({ event, error });
  }
}

function isAway(error: unknown): boolean {
  return ["unavailable", "deadline", "cancelled"].includes(kindOf(error) ?? "");
}

function kindOf(error: unknown): ErrorKind | undefined {
  return error instanceof ServiceError ? error.kind : undefined;
}

function toRequest({ ownerId, eventUuid, event, conversationId, payload, traceparent }: ReadyEvent) {
  return {
    ownerId,
    eventId: idOf("evt", eventUuid),
    event,
    conversationId: conversationId ?? "",
    payload,
    traceparent: traceparent ?? undefined,
  };
}
