import type { Turn, TurnEnd } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { tracedCall } from "@parley/shared/telemetry/rpc";
import { outsideTraces } from "@parley/shared/telemetry/spans";
import { type Conversations, openTurnStream, type TurnCall, type TurnStream, unreachable } from "./turn-stream.ts";

export interface Turns {
  /** Runs a turn. @returns how it ended, once all of it has been delivered @throws ServiceError */
  run(turn: Turn, call: TurnCall): Promise<TurnEnd>;
}

/** A turn's name in traces: a call of its own, although a stream carries it. */
const TURN = { path: "/parley.conversation.v1.ConversationService/RunTurn", peer: "conversation" };
/** How often the replicas are looked for while turns are made. */
const LOOK_EVERY_MS = 2_000;
/**
 * A stream takes turns for this long, so that turns leave a connection that has reached its age
 * (`services/shared/src/rpc/server.ts`).
 */
const STREAM_AGE_MS = 10_000;
/** How long turns wait for a service that has just lost its last replica, as calls do (`services/shared/src/rpc/client/resend.ts`). */
const PATIENCE_MS = 2_000;

/**
 * Turns at the conversation service, which travel together: one stream to each replica carries all turns of this process.
 * @param conversations of its own, so that its streams go to the replicas one after the other
 */
export function createTurns(conversations: Conversations): Turns {
  const streams = new Map<string, { stream: TurnStream; openedAt: number }>();
  let opening: Promise<boolean> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** Since when no replica has been found; null while there is one. */
  let awaySince: number | null = null;

  /** Opens a stream to the next replica. @returns whether there was none to it */
  async function open(): Promise<boolean> {
    const stream = outsideTraces(() => openTurnStream(conversations));
    const replica = await stream.opened;
    if (stream.load() === null) throw unreachable();
    awaySince = null;
    const known = streams.get(replica);
    const isKnown = known !== undefined && known.stream.load() !== null;
    if (isKnown && performance.now() - known.openedAt < STREAM_AGE_MS) {
      stream.retire();
      return false;
    }
    known?.stream.retire();
    streams.set(replica, { stream, openedAt: performance.now() });
    return !isKnown;
  }

  function openNext(): Promise<boolean> {
    opening ??= open().finally(() => {
      opening = null;
    });
    return opening;
  }

  /** Opens streams until one leads to a replica that has one. */
  async function look(): Promise<void> {
    lookedAt = performance.now();
    try {
      while (await openNext());
    } catch {
      // A turn that finds no stream at all opens one itself, and tells why it cannot.
    }
  }

  /** Picks the stream with the fewest turns, of several the one picked longest ago; null without any. */
  function pick(): TurnStream | null {
    let picked: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const [replica, { stream }] of streams) {
      const load = stream.load();
      if (load === null) streams.delete(replica);
      else if (load < least) [picked, least] = [replica, load];
    }
    const found = picked === null ? undefined : streams.get(picked);
    if (picked === null || !found) return null;
    streams.delete(picked);
    streams.set(picked, found);
    return found.stream;
  }

  async function findStream(): Promise<TurnStream> {
    for (;;) {
      const stream = pick();
      if (stream) {
        if (performance.now() - lookedAt > LOOK_EVERY_MS) void look();
        return stream;
      }
      try {
        await openNext();
      } catch (error) {
        if (!(error instanceof ServiceError) || error.kind !== "unavailable") throw error;
        awaySince ??= performance.now();
        const leftMs = awaySince + PATIENCE_MS - performance.now();
        if (leftMs <= 0 || !(await conversations.isReachable(leftMs))) throw error;
      }
    }
  }

  async function run(turn: Turn, call: TurnCall): Promise<TurnEnd> {
    for (;;) {
      const stream = await findStream();
      const end = await stream.run(turn, call);
      if (end) return end;
    }
  }

  return {
    run: (turn, call) => tracedCall(TURN, call, (traced) => run(turn, traced ?? call)),
  };
}
