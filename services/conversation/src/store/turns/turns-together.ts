import type { Database, Sql } from "@parley/shared/db/database";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { type BatchOptions, batched, createLane } from "@parley/shared/rpc/batched";
import { fewAtOnce, NEVER_GONE } from "@parley/shared/shares/few-at-once";
import { type Checkpoint, storeCheckpoints } from "./checkpoints.ts";
import { extendTurns, type LeasedTurn } from "./extend-turns.ts";
import { type FinishedTurn, finishedTurn, type finishTurn, finishTurns, type ReplySoFar } from "./finish-turns.ts";
import { bytesOfAll } from "./kept-tool-calls.ts";
import { releaseTurns, type SilentTurn } from "./release-turns.ts";
import {
  insertSessionsWithTurns,
  insertSessionWithTurn,
  type NewSession,
  type NewTurn,
  type OpenTurn,
  takeTurn,
  takeTurns,
} from "./take-turns.ts";

/** Stores turns outside of a transaction, concurrent ones together in one statement and one commit. */
export interface TurnStore {
  insertSessionWithTurn(session: NewSession): ReturnType<typeof insertSessionWithTurn>;
  takeTurn(turn: NewTurn, maxBytes: number): ReturnType<typeof takeTurn>;
  finishTurn(...finished: Parameters<typeof finishedTurn>): ReturnType<typeof finishTurn>;
  /** Does nothing when another turn has taken over, like the next two. */
  storeCheckpoint(checkpoint: Checkpoint): Promise<void>;
  releaseTurn(turn: SilentTurn): Promise<void>;
  extendTurn(turn: LeasedTurn): Promise<void>;
}

/** The most turns in one statement: 32 take about 4 ms, and Postgres a seventh to a quarter of the CPU of 32 statements (bench/lessons.md). */
const TURNS_MAX = 32;
/** Limit for a turn's texts, in characters: longer ones are stored alone, so that they hold up no others. */
const TEXTS_MAX = 16 * 1024;
/** The most long texts of one owner that are stored at a time. Each takes a connection for many milliseconds, and many replies may end, or be checkpointed, together. */
const LONG_AT_ONCE = 2;

/**
 * A turn alone is stored at once; those that arrive while a statement is in progress are the next statement. Statements that begin
 * turns and those that end them follow one another: beside each other, each would take longer, and have fewer turns.
 */
export function turnStore(db: Database): TurnStore {
  const waiting = { lane: createLane() };
  // A reply is never refused for those before it: the turns in progress are limited.
  const long = fewAtOnce({ what: "long texts", atOnce: LONG_AT_ONCE, waitingMax: Number.POSITIVE_INFINITY });
  const alone: StoreAlone = (ownerId, length, write) =>
    length > TEXTS_MAX ? long(ownerId, NEVER_GONE, write) : write();
  const insert = together({
    many: async (sessions: readonly NewSession[]) => {
      await insertSessionsWithTurns(db, sessions);
      return sessions.map(() => true);
    },
    one: async (session: NewSession) => {
      await insertSessionWithTurn(db, session);
      return true;
    },
    lengthOf: lengthOfTurn,
    ownerOf: ({ ownerId }) => ownerId,
    alone,
    waiting,
  });
  const take = together({
    many: async (wanted: readonly WantedTurn[]) => {
      const turns = wanted.map(({ turn }) => turn);
      const maxBytes = Math.min(...wanted.map((each) => each.maxBytes));
      const taken = await takeTurns(db, turns, maxBytes);
      return turns.map(({ turnId }) => taken.get(turnId));
    },
    one: ({ turn, maxBytes }) => takeTurn(db, turn, maxBytes),
    lengthOf: ({ turn }) => lengthOfTurn(turn),
    ownerOf: ({ turn }) => turn.ownerId,
    alone,
    waiting,
  });
  const finish = together({
    many: async (turns: readonly FinishedTurn[]) => {
      const alike = Map.groupBy(turns, ({ checkpointed, ended }) => `${checkpointed} ${ended}`);
      const finished = await Promise.all(alike.values().map((group) => finishTurns(db, group)));
      return turns.map(({ turnId }) => finished.some((ids) => ids.has(turnId)) || undefined);
    },
    one: async (turn) => (await finishTurns(db, [turn])).has(turn.turnId),
    lengthOf: ({ reply }) => lengthOfReply(reply),
    ownerOf: ({ ownerId }) => ownerId,
    alone,
    waiting,
  });
  // A thousand turns of an owner may be checkpointed, extended or released together, and would take all connections.
  const checkpoint = together({
    ...those(storeCheckpoints, db),
    lengthOf: ({ reply }) => lengthOfReply(reply),
    alone,
    waiting,
  });
  const release = together({
    ...those(releaseTurns, db),
    lengthOf: ({ toolCalls }) => bytesOfAll(toolCalls),
    alone,
    waiting,
  });
  const extend = together({ ...those(extendTurns, db), lengthOf: () => 0, alone, waiting });
  return {
    insertSessionWithTurn: async (session) => void (await insert(session)),
    takeTurn: (turn, maxBytes) => take({ turn, maxBytes }),
    finishTurn: (...finished) => finish(finishedTurn(...finished)),
    storeCheckpoint: async (turn) => void (await checkpoint(turn)),
    releaseTurn: async (turn) => void (await release(turn)),
    extendTurn: async (turn) => void (await extend(turn)),
  };
}

/** A statement that returns the ids of the turns that it has changed. */
function those<T extends OpenTurn>(
  change: (sql: Sql, turns: readonly T[]) => Promise<ReadonlySet<string>>,
  db: Database,
) {
  return {
    many: async (turns: readonly T[]) => {
      const changed = await change(db, turns);
      return turns.map(({ turnId }) => changed.has(turnId) || undefined);
    },
    one: async (turn: T) => (await change(db, [turn])).has(turn.turnId),
    ownerOf: ({ ownerId }: T) => ownerId,
  };
}

/** Runs a statement of its own, in the owner's turn if its texts are long. */
type StoreAlone = <R>(ownerId: string, length: number, write: () => Promise<R>) => Promise<R>;

function lengthOfReply({ content, toolCalls }: ReplySoFar): number {
  return content.length + bytesOfAll(toolCalls);
}

interface WantedTurn {
  turn: NewTurn;
  maxBytes: number;
}

function lengthOfTurn({ message, metadata }: NewTurn): number {
  return message.length + JSON.stringify(metadata).length;
}

interface Statements<T, R> {
  /** In the order of the turns; undefined for those left out. */
  many(turns: readonly T[]): Promise<(R | undefined)[]>;
  one(turn: T): Promise<R>;
  lengthOf(turn: T): number;
  ownerOf(turn: T): string;
  alone: StoreAlone;
  waiting: Pick<BatchOptions<T>, "lane">;
}

/** A turn that is left out, or fails with others, is tried alone, so it gets the result or error that it would have had alone. */
function together<T, R>({ many, one, lengthOf, ownerOf, alone, waiting }: Statements<T, R>): (turn: T) => Promise<R> {
  const store = batched<T, { result: R } | null>(
    async (turns) => {
      const [turn] = turns;
      if (turn && turns.length === 1) return [{ result: await one(turn) }];
      const results = await many(turns).catch((error) => {
        // It may have committed, as for a statement of its own.
        if (isUnreachableDatabase(error)) throw error;
        return [];
      });
      return turns.map((_, at) => {
        const result = results[at];
        return result === undefined ? null : { result };
      });
    },
    TURNS_MAX,
    waiting,
  );
  return async (turn) => {
    const length = lengthOf(turn);
    const stored = length > TEXTS_MAX ? null : await store(turn);
    return stored ? stored.result : alone(ownerOf(turn), length, () => one(turn));
  };
}
