import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import { repeat } from "@parley/shared/process/repeat";
import {
  abandonCall,
  type CallKey,
  claimLostCalls,
  connectCall,
  countPlaces,
  deleteCall,
  extendCalls,
  keepUnbegunCall,
  type LostCall,
  storeFarEnd,
  takeCall,
} from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";

/** Records the calls that this process holds in the database, so that another process ends them if this one dies. */
export interface LiveCalls {
  /**
   * @param farEnd how another process hangs up the call if this one dies; null if the other party is not reached yet
   * @throws ServiceError rate_limited when the owner has its maximum number of calls
   */
  take(call: CallKey, farEnd?: FarEnd | null): Promise<void>;
  /** @throws ServiceError rate_limited when the owner has its maximum number of calls */
  checkPlace(ownerId: string): Promise<void>;
  connected(call: CallKey, farEnd: FarEnd | null): Promise<void>;
  /** How another process hangs up the call if this one dies; null if it must not. */
  reachedBy(call: CallKey, farEnd: FarEnd | null): Promise<void>;
  release(call: CallKey): Promise<void>;
  /** Leaves the end of a call to another process, as if this one had died. */
  abandon(call: CallKey): Promise<void>;
  stop(): Promise<void>;
}

interface LiveCallsOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** The most calls of one owner at a time, in all processes. */
  callsMax: number;
  /** Ends the conversation of a call whose process is gone. @returns false if it has not begun, and may still begin */
  endLost(call: LostCall): Promise<boolean>;
  /** Called, until the call is released, when another process has ended a call of this one, which was frozen for longer than its lease. */
  overtaken(call: CallKey): void;
  /** For tests. */
  beatMs?: number;
}

/** A lost call is ended after at most a lease and a beat of another process. */
const LEASE_MS = 6_000;
const BEAT_MS = 2_000;
const LOST_AT_ONCE = 20;

export function liveCalls({
  db,
  clock,
  log,
  callsMax,
  endLost,
  overtaken,
  beatMs = BEAT_MS,
}: LiveCallsOptions): LiveCalls {
  const processId = newUuid();
  const until = () => new Date(clock.now().getTime() + LEASE_MS);
  /** Only their leases are extended. A row that could not be deleted is left for another process to end. */
  const held = new Map<string, CallKey>();
  /** After the database was away, leases of living processes have run out too: they get the time to extend them. */
  let wasAway = false;
  let claimsFrom = 0;

  async function beat(): Promise<void> {
    await extend();
    if (wasAway) claimsFrom = clock.now().getTime() + LEASE_MS;
    wasAway = false;
    if (clock.now().getTime() < claimsFrom) return;
    const claim = { processId: newUuid(), now: clock.now(), until: until(), limit: LOST_AT_ONCE };
    for (const call of await claimLostCalls(db, claim)) {
      try {
        if (await endLost(call)) await deleteCall(db, call, claim.processId);
        else await keepUnbegunCall(db, call, claim.processId);
      } catch (err) {
        // Its new lease ends too, and then another process tries again.
        log.warn({ err, conversation_id: call.conversationId }, "a lost call could not be ended yet");
      }
    }
  }

  async function extend(): Promise<void> {
    const calls = [...held.values()];
    const extended = new Set((await extendCalls(db, processId, calls, until())).map(nameOf));
    for (const call of calls) {
      // One that is not held anymore has been released in the meantime.
      if (extended.has(nameOf(call)) || !held.has(nameOf(call))) continue;
      log.warn({ conversation_id: call.conversationId }, "a call was ended by another process, because this one hung");
      overtaken(call);
    }
  }

  const beating = repeat(beat, beatMs, (err) => {
    wasAway = true;
    log.warn({ err }, "the leases of calls could not be extended");
  });

  return {
    take: async (call, farEnd = null) => {
      const now = clock.now();
      if (await takeCall(db, { ...call, farEnd, processId, now, until: until() }, callsMax)) {
        held.set(nameOf(call), call);
        return;
      }
      throw tooMany(callsMax);
    },
    checkPlace: async (ownerId) => {
      if ((await countPlaces(db, ownerId, clock.now())) >= callsMax) throw tooMany(callsMax);
    },
    connected: (call, farEnd) => connectCall(db, call, farEnd, clock.now()),
    reachedBy: (call, farEnd) => storeFarEnd(db, call, farEnd),
    release: async (call) => {
      held.delete(nameOf(call));
      await deleteCall(db, call, processId);
    },
    abandon: async (call) => {
      held.delete(nameOf(call));
      await abandonCall(db, call, newUuid());
    },
    stop: beating.stop,
  };
}

function nameOf({ ownerId, conversationId }: CallKey): string {
  return `${ownerId} ${conversationId}`;
}

function tooMany(callsMax: number): ServiceError {
  const limit = `This account has ${callsMax} calls in progress, which is its limit`;
  const fix = "end one or wait until one ends; the operator can raise the limit with PARLEY_CALLS_CONCURRENT_MAX";
  return new ServiceError("rate_limited", `${limit}: ${fix}`);
}
