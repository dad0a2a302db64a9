import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { HandedCall } from "../store/turns/handed-calls.ts";
import {
  type CallingTurn,
  endToolCall,
  holdToolCalls,
  insertToolCalls,
  type NewToolCall,
  retakeToolCall,
  startToolCall,
  type ToolCallEnd,
  type ToolCallKey,
} from "../store/turns/tool-ledger.ts";
import { untilStored } from "../store/until-stored.ts";
import type { RunningTurns } from "../turn/running-turns.ts";
import { lookAtHanded } from "./look-at-handed.ts";

/** The calls of tools that take time: each one is stored before it is made, and again when it ends. */
export interface ToolLedger {
  /** Stores the calls of a round. @returns false when their turn, or conversation, is over: they must not be made */
  begin(turn: CallingTurn, calls: readonly NewToolCall[]): Promise<boolean>;
  /** A call that has waited is made now. @returns false if it must not be made anymore */
  start(key: ToolCallKey): Promise<boolean>;
  /** Takes over a call whose process died, to make it once more. @returns false if another turn did */
  retake(key: ToolCallKey, attempts: number): Promise<boolean>;
  /**
   * Stores how a call ended. Retries for about 25 seconds while the database is down.
   * @returns whether the conversation has the values that it assigns; null if the call had ended otherwise
   */
  end(key: ToolCallKey, end: ToolCallEnd, log: Logger): Promise<{ isAssigned: boolean } | null>;
  /** A call that the client makes, a moment from now; null if it was deleted. Retries like `end`. */
  handed(key: ToolCallKey, log: Logger): Promise<HandedCall | null>;
  /** The calls go on after their turn: this process is known to make them, until they end or it dies. */
  detach(calls: readonly DetachedCall[]): Promise<void>;
}

interface DetachedCall {
  key: ToolCallKey;
  /** Settles when its end is stored. */
  over: Promise<unknown>;
}

/** @param leaseMs how long calls count as running after their process died */
export function toolLedger(db: Database, clock: Clock, turns: RunningTurns, leaseMs: number): ToolLedger {
  const held = new Map<string, ToolCallKey>();
  const look = lookAtHanded(db);
  let beat: Timer | undefined;
  const heldUntil = () => new Date(clock.now().getTime() + leaseMs);

  /** Each lease lasts three beats, so the next one makes up for a lost one. */
  function hold(): void {
    holdToolCalls(db, [...held.values()], heldUntil()).catch(() => {});
  }

  function keep({ key, over }: DetachedCall): void {
    const id = `${key.ownerId} ${key.conversationId} ${key.toolCallId}`;
    held.set(id, key);
    beat ??= setInterval(hold, leaseMs / 3);
    const release = turns.begin();
    const done = () => {
      release();
      if (!held.delete(id) || held.size > 0) return;
      clearInterval(beat);
      beat = undefined;
    };
    // A process that stops leaves its calls: their next turn learns that their outcome is unknown.
    turns.cutOff.addEventListener("abort", done, { once: true });
    if (turns.cutOff.aborted) done();
    over
      .catch(() => {})
      .finally(() => {
        turns.cutOff.removeEventListener("abort", done);
        done();
      });
  }

  return {
    begin: (turn, calls) => insertToolCalls(db, turn, calls, clock.now()),
    start: (key) => startToolCall(db, key),
    retake: (key, attempts) => retakeToolCall(db, key, attempts),
    end: (key, end, log) => untilStored(log, () => endToolCall(db, key, end, clock.now())),
    handed: (key, log) => untilStored(log, () => look(key)),
    detach: async (calls) => {
      if (calls.length === 0) return;
      for (const call of calls) keep(call);
      await holdToolCalls(
        db,
        calls.map(({ key }) => key),
        heldUntil(),
      );
    },
  };
}
