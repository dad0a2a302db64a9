import { nextTick } from "node:process";
import { type Company, company as ownCompany } from "./company.ts";

/** Time in one turn of the event loop, from its first piece on, after which further pieces wait for the next turn. */
const SLICE_MS = 2;
/**
 * Turns of a busy loop are long: with 500 streams, 20 ms and more. With 2 ms in each, work would begin more slowly than it
 * arrives. So one piece begins in any case for each of these milliseconds that other work took in the turn before, up to a limit.
 */
const MS_PER_PIECE = 1;
const PIECES_MAX = 16;
/** The same while the process works for others too: a turn that an owner's own pieces made long must not let it make the next as long. */
const PIECES_AMONG_OTHERS_MAX = 8;
/** Owners whose first piece in a turn of the loop begins at once, even when its time is up. */
const OWNERS_MAX = 4;
/**
 * By default, pieces of one owner that begin at once in a turn of the loop while the process works for nobody else: they share
 * what follows, such as a statement.
 */
const ALONE_MAX = 4;

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
  now = () => performance.now(),
  aloneMax = ALONE_MAX,
  company = ownCompany,
}: LoopEntrySettings = {}): EnterLoop {
  const waiting = new Map<string, (() => void)[]>();
  /** Owners with a piece in this turn of the loop. */
  const served = new Set<string>();
  /** Pieces that began at once in this turn, although their owner had one in it. */
  let begunAlone = 0;
  /** When the first piece of this turn began. */
  let beganAt = 0;
  /** When the last piece had been worked on, in this turn or before. */
  let workedAt = 0;
  /** Whether a piece has begun and `workedAt` is yet to be set. */
  let isWorking = false;
  /** The pieces that begin in this turn even when its time is up. */
  let piecesLeft = 0;
  let isPlanned = false;
  let isServing = false;

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
    begin();
    piecesLeft = Math.min(piecesMax(), Math.floor(othersMs / MS_PER_PIECE));
    // One begins in any case: on a busy machine, time may be up before the first.
    beginNext();
    serve();
  }

  function piecesMax(): number {
    const isAlone = waiting.keys().every((ownerId) => company.isAlone(ownerId));
    return isAlone ? PIECES_MAX : PIECES_AMONG_OTHERS_MAX;
  }

  /** Lets pieces begin, one after the other, while there is time. The rest waits for the next turn. */
  function serve(): void {
    if (isServing) return;
    isServing = true;
    whenWorkedOn(serveNext);
  }

  function serveNext(): void {
    noteWorked();
    isServing = waiting.size > 0 && (piecesLeft > 0 || hasTime());
    if (!isServing) return;
    beginNext();
    whenWorkedOn(serveNext);
  }

  function noteWorked(): void {
    if (isWorking) workedAt = now();
    isWorking = false;
  }

  function hasTime(): boolean {
    return now() - beganAt < SLICE_MS;
  }

  function beginNext(): void {
    const [next] = waiting;
    if (!next) return;
    piecesLeft--;
    isWorking = true;
    const [ownerId, queue] = next;
    // To the end of the round.
    waiting.delete(ownerId);
    if (queue.length > 1) waiting.set(ownerId, queue);
    served.add(ownerId);
    queue.shift()?.();
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
      else served.add(ownerId);
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

/** Calls when what has begun waits for something, so that its time counts: ticks come after all promises that have settled. */
function whenWorkedOn(then: () => void): void {
  queueMicrotask(() => nextTick(then));
}

/** The shares of this process, which has one event loop. */
export const enterLoop: EnterLoop = loopEntry();
