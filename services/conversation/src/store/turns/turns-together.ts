import type { Database, Sql } from "@parley/shared/db/database";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { batched, createLane } from "@parley/shared/rpc/batched";
import { fewAtOnce, NEVER_GONE } from "@parley/shared/shares/few-at-once";
import { type Checkpoint, storeCheckpoints } from "./checkpoints.ts";
import { extendTurns, type LeasedTurn } from "./extend-turns.ts";
import {
  type FinishedTurn,
  finishedTurn,
  finishTurns,
  type OpenReply,
  type ReplySoFar,
  type StoredReply,
  type TurnEnd,
} from "./finish-turns.ts";
import { bytesOfAll } from "./kept-tool-calls.ts";
import { releaseTurns, type SilentTurn } from "./release-turns.ts";
import {
  insertSessionsWithTurns,
  type NewSession,
  type NewTurn,
  type OpenTurn,
  type TakenTurn,
  takeTurns,
} from "./take-turns.ts";

/** Stores turns outside of a transaction, concurrent ones together in one statement and one commit. */
export interface TurnStore {
  insertSessionWithTurn(session: NewSession): Promise<void>;
  /** As `takeTurn` does in a transaction. */
  takeTurn(turn: NewTurn, maxBytes: number): Promise<TakenTurn | null>;
  /** Stores the reply and ends the turn. Returns false when another turn has taken over. */
  finishTurn(turn: OpenReply, reply: StoredReply, now: Date, end: TurnEnd): Promise<boolean>;
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
  const lane = createLane();
  // A reply is never refused for those before it: the turns in progress are limited.
  const long = fewAtOnce({ what: "long texts", atOnce: LONG_AT_ONCE, waitingMax: Number.POSITIVE_INFINITY });

  /** A turn that is left out, or fails with others, is tried alone, so it gets the result or error that it would have had alone. */
  function together<T extends OpenTurn, R>({ write, lengthOf }: Statement<T, R>): (turn: T) => Promise<R | undefined> {
    const writeAlone = async (turn: T) => (await write([turn]))[0];
    const writeTogether = batched<T, { result: R | undefined } | null>(
      async (turns) => {
        const results = await write(turns).catch((error) => {
          // One that the database did not answer may have committed, as a statement of its own may have.
          if (turns.length === 1 || isUnreachableDatabase(error)) throw error;
          return [];
        });
        if (turns.length === 1) return [{ result: results[0] }];
        return turns.map((_, at) => (results[at] === undefined ? null : { result: results[at] }));
      },
      TURNS_MAX,
      { lane },
    );
    return async (turn) => {
      if (lengthOf(turn) > TEXTS_MAX) return long(turn.ownerId, NEVER_GONE, () => writeAlone(turn));
      const written = await writeTogether(turn);
      return written ? written.result : writeAlone(turn);
    };
  }

  const insert = together({
    write: async (sessions: readonly NewSession[]) => {
      await insertSessionsWithTurns(db, sessions);
      return sessions.map(() => true);
    },
    lengthOf: lengthOfTurn,
  });
  const take = together<WantedTurn, TakenTurn>({
    write: async (turns) => {
      const taken = await takeTurns(db, turns, Math.min(...turns.map(({ maxBytes }) => maxBytes)));
      return turns.map(({ turnId }) => taken.get(turnId));
    },
    lengthOf: lengthOfTurn,
  });
  const finish = together({
    write: async (turns: readonly FinishedTurn[]) => {
      const alike = Map.groupBy(turns, ({ checkpointed, ended }) => `${checkpointed} ${ended}`);
      const finished = await Promise.all(alike.values().map((group) => finishTurns(db, group)));
      return turns.map(({ turnId }) => finished.some((ids) => ids.has(turnId)) || undefined);
    },
    lengthOf: ({ reply }) => lengthOfReply(reply),
  });
  // A thousand turns of an owner may be checkpointed, extended or released together, and would take all connections.
  const checkpoint = together({
    write: those(storeCheckpoints, db),
    lengthOf: ({ reply }: Checkpoint) => lengthOfReply(reply),
  });
  const release = together({
    write: those(releaseTurns, db),
    lengthOf: ({ toolCalls }: SilentTurn) => bytesOfAll(toolCalls),
  });
  const extend = together({ write: those(extendTurns, db), lengthOf: () => 0 });
  return {
    insertSessionWithTurn: async (session) => void (await insert(session)),
    takeTurn: async (turn, maxBytes) => (await take({ ...turn, maxBytes })) ?? null,
    finishTurn: async (...finished) => (await finish(finishedTurn(...finished))) ?? false,
    storeCheckpoint: async (turn) => void (await checkpoint(turn)),
    releaseTurn: async (turn) => void (await release(turn)),
    extendTurn: async (turn) => void (await extend(turn)),
  };
}

interface Statement<T, R> {
  /** Returns results in the order of the turns; undefined for one that another turn has taken over, or that is left out among several. */
  write(turns: readonly T[]): Promise<(R | undefined)[]>;
  lengthOf(turn: T): number;
}

interface WantedTurn extends NewTurn {
  /** Of its earlier messages. */
  maxBytes: number;
}

/** A statement that returns the ids of the turns that it has changed. */
function those<T extends OpenTurn>(
  change: (sql: Sql, turns: readonly T[]) => Promise<ReadonlySet<string>>,
  db: Database,
) {
  return async (turns: readonly T[]) => {
    const changed = await change(db, turns);
    return turns.map(({ turnId }) => changed.has(turnId) || undefined);
  };
}

function lengthOfReply({ content, toolCalls }: ReplySoFar): number {
  return content.length + bytesOfAll(toolCalls);
}

function lengthOfTurn({ message, metadata }: NewTurn): number {
  return message.length + JSON.stringify(metadata).length;
}
