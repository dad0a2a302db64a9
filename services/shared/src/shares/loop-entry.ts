import { nextTick } from "node:process";
import { type Company, company as ownCompany } from "./company.ts";
import { passingTime } from "./passing-time.ts";

/** Time in one turn of the event loop, from its first piece on, after which further pieces wait for the next turn. */
const SLICE_MS = 2;
/**
 * Turns of a busy loop are long: with 500 streams, 20 ms and more. With 2 ms in each, work would begin more slowly than it
 * arrives. So one piece begins in any case for each of these milliseconds that other work took in the turn before, up to a limit.
 */
const MS_PER_PIECE = 1;
const PIECES_MAX = 16;
/**
 * The same while the process works for others too, of all owners and of each: a turn that an owner's own pieces made long must not let
 * it make the next as long. What follows a piece, such as a connection to a model and its answer, takes longer than the piece.
 */
const AMONG_OTHERS_MAX = { pieces: 8, ofOwner: 3 };
/** Owners whose first piece in a turn of the loop begins at once, even when its time is up. */
const OWNERS_MAX = 4;
/**
 * By default, pieces of one owner that begin at once in a turn of the loop while the process works for nobody else: they share
 * what follows, such as a statement.
 */
const ALONE_MAX = 4;
/**
 * While the process works for others too, an owner with as many waiting pieces rests after a turn of the loop in which some of them
 * began, for this many times as long as that turn lasted, so its pieces keep the process busy for a quarter of the time at most.
 * Without rests, a thousand requests that arrive together take all cores of a small machine until the last has begun, and everybody's
 * work waits for a core in each process that it passes.
 */
const FLOOD = 16;
const REST = 3;
/** A longer turn waited for a core itself, on a machine that is slow for everybody. */
const REST_MAX_MS = 25;
/** The most owners among which the one with the most waiting pieces is looked for. */
const COMPARED_MAX = 32;

/**
 * Asks to begin a short piece of an owner's work, such as a request: a millisecond or so until it waits for something.
 * @returns null when the piece may begin at once; otherwise a promise that settles when its turn on the event loop has come
 */
export type EnterLoop = (ownerId: string) => Promise<void> | null;

export interface LoopEntrySettings {
  /** Pieces of an owner alone that begin at once in a turn of the loop: few, or short ones. Four by default. */
  aloneMax?: number;
  /** Runs a callback in the next turn of the loop. */
  nextTurn?(run: () => void): void;
  /** Runs a callback later, in milliseconds. */
  after?(ms: number, run: () => void): void;
  /** Milliseconds, from any start. */
  now?(): number;
  company?: Company;
}

/**
 * Shares the time of the event loop among owners. Requests that arrive together would otherwise be worked on in one turn of
 * the loop, and whatever else is ready would wait for all of them. Owners take turns, and an owner's pieces keep their order.
 */
export function loopEntry({
  nextTurn = setImmediate,
  after = passingTime.after,
  now = () => performance.now(),
  aloneMax = ALONE_MAX,
  company = ownCompany,
}: LoopEntrySettings = {}): EnterLoop {
  const waiting = new Map<string, (() => void)[]>();
  /** The pieces in this turn of the loop, by owner. */
  const served = new Map<string, number>();
  /** Pieces that began at once in this turn, although their owner had one in it. */
  let begunAlone = 0;
  /** When the first piece of this turn began. */
  let beganAt = 0;
  /** When the last piece had been worked on, in this turn or before. */
  let workedAt = 0;
  /** Whether a piece has begun and `workedAt` is yet to be set. */
  let isWorking = false;
  /** The pieces that begin in this turn even when its time is up, of all owners and of each. */
  let piecesLeft = 0;
  let ofOwnerMax = 0;
  let isPlanned = false;
  let isServing = false;
  /** The owner whose waiting pieces rest. */
  let resting: string | null = null;

  /** Begins a turn of the loop with the first piece. */
  function begin(): void {
    if (isPlanned) return;
    isPlanned = true;
    beganAt = now();
    served.clear();
    begunAlone = 0;
    piecesLeft = 0;
    nextTurn(turn);
  }

  function turn(): void {
    isPlanned = false;
    if (waiting.size === 0) return;
    const othersMs = now() - Math.max(beganAt, workedAt);
    letFloodRest();
    if (firstWaiting() !== undefined) serveTurn(othersMs);
  }

  /** Lets an owner with many waiting pieces rest if some of them began in the turn that is over. */
  function letFloodRest(): void {
    if (resting !== null) return;
    const ownerId = longestOf(waiting);
    if (ownerId === undefined || !served.has(ownerId) || company.isAlone(ownerId)) return;
    resting = ownerId;
    after(Math.min(REST * (now() - beganAt), REST_MAX_MS), () => {
      resting = null;
      // Another owner's piece may have planned a turn.
      if (!isPlanned && waiting.size > 0) serveTurn(0);
    });
  }

  /** The owner whose turn is next; undefined if nobody waits but one who rests. */
  function firstWaiting(isNext: (ownerId: string) => boolean = () => true): string | undefined {
    return waiting.keys().find((ownerId) => ownerId !== resting && isNext(ownerId));
  }

  function serveTurn(othersMs: number): void {
    begin();
    const isAlone = waiting.keys().every((ownerId) => company.isAlone(ownerId));
    const piecesMax = isAlone ? PIECES_MAX : AMONG_OTHERS_MAX.pieces;
    ofOwnerMax = isAlone ? PIECES_MAX : AMONG_OTHERS_MAX.ofOwner;
    piecesLeft = Math.min(piecesMax, Math.floor(othersMs / MS_PER_PIECE));
    // One begins in any case: on a busy machine, time may be up before the first.
    const first = firstWaiting();
    if (first !== undefined) beginNext(first);
    serve();
  }

  /** Lets pieces begin, one after the other, while there is time. The rest waits for the next turn. */
  function serve(): void {
    if (isServing) return;
    isServing = true;
    whenWorkedOn(serveNext);
  }

  function serveNext(): void {
    noteWorked();
    const ownerId = nextOwner();
    isServing = ownerId !== undefined;
    if (ownerId === undefined) return;
    beginNext(ownerId);
    whenWorkedOn(serveNext);
  }

  /** While there is time, the first that waits; then the first that has had few pieces. */
  function nextOwner(): string | undefined {
    const isTimeUp = !hasTime();
    if (isTimeUp && piecesLeft <= 0) return undefined;
    return firstWaiting((ownerId) => !isTimeUp || (served.get(ownerId) ?? 0) < ofOwnerMax);
  }

  function noteWorked(): void {
    if (isWorking) workedAt = now();
    isWorking = false;
  }

  function hasTime(): boolean {
    return now() - beganAt < SLICE_MS;
  }

  function beginNext(ownerId: string): void {
    const queue = waiting.get(ownerId);
    if (!queue) return;
    piecesLeft--;
    isWorking = true;
    // To the end of the round.
    waiting.delete(ownerId);
    if (queue.length > 1) waiting.set(ownerId, queue);
    countPiece(ownerId);
    queue.shift()?.();
  }

  function countPiece(ownerId: string): void {
    served.set(ownerId, (served.get(ownerId) ?? 0) + 1);
  }

  function mayBeginAtOnce(ownerId: string): boolean {
    if (!served.has(ownerId)) return served.size < OWNERS_MAX && !waiting.has(ownerId);
    if (served.size > 1 || waiting.size > 0 || begunAlone >= aloneMax - 1) return false;
    return company.isAlone(ownerId) && hasTime();
  }

  return (ownerId) => {
    company.enter(ownerId);
    begin();
    if (mayBeginAtOnce(ownerId)) {
      if (served.has(ownerId)) begunAlone++;
      countPiece(ownerId);
      if (!isWorking) whenWorkedOn(noteWorked);
      isWorking = true;
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = waiting.get(ownerId);
    if (queue) queue.push(resolve);
    else waiting.set(ownerId, [resolve]);
    serve();
    return promise;
  };
}

/** The owner with the most waiting pieces, if they are a flood. */
function longestOf(waiting: ReadonlyMap<string, readonly unknown[]>): string | undefined {
  let longest: string | undefined;
  let most = FLOOD - 1;
  for (const [ownerId, { length }] of waiting.entries().take(COMPARED_MAX)) {
    if (length > most) [longest, most] = [ownerId, length];
  }
  return longest;
}

/** Calls when what has begun waits for something, so that its time counts: ticks come after all promises that have settled. */
function whenWorkedOn(then: () => void): void {
  queueMicrotask(() => nextTick(then));
}

/** The shares of this process, which has one event loop. */
export const enterLoop: EnterLoop = loopEntry();

/** Runs a short piece of an owner's work that nobody waits for, such as the end of a request that its client has left. */
export function enterLoopWith(ownerId: string, piece: () => void): void {
  const entered = enterLoop(ownerId);
  if (entered) void entered.then(piece);
  else piece();
}
