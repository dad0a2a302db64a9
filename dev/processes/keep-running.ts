import { CONFIG_ERROR_EXIT } from "@parley/shared/config";
import { type BackOff, nextPause, RESTART } from "./back-off.ts";
import { type Child, type Command, startChild, stopChild } from "./child.ts";
import { lastWords, rotate, sizeOf } from "./last-words.ts";

export interface Program {
  name: string;
  /** Its address, host:port or unix:path. */
  address: string;
  /** unix:path of its health and metrics. */
  adminAddress?: string;
  /** host:port that takes calls by SIP. */
  sipAddress?: string;
  /** host:port for carriers' WebSockets. */
  mediaAddress?: string;
  command: Command;
  /** Rejects while the program does not answer. */
  ping: () => Promise<void>;
  /** Time for a clean stop, in milliseconds. */
  stopWithinMs: number;
}

export interface Events {
  started(program: Program, pid: number): void;
  ended(program: Program, how: string, lastWords: string, pauseMs: number): void;
  /** Called when it answers again. */
  back(program: Program): void;
}

export interface Kept {
  /** Settles once: when it answers, or when it cannot be started. */
  answers: Promise<void>;
  /** Stops it permanently. */
  stop(): Promise<void>;
}

const ATTEMPTS = 5;
const WRONG_CONFIGURATION = `exit code ${CONFIG_ERROR_EXIT}`;
const FIRST_ANSWER_MS = 90_000;
const PING_EVERY_MS = 50;

/**
 * Keeps a program running: restarts it with back-off whenever it ends. Gives up if it never answered, after a few attempts or, if its
 * configuration is wrong, at once.
 */
export function keepRunning(program: Program, events: Events, backOff: BackOff = RESTART): Kept {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let child: Child | null = null;
  let answered = false;

  async function run(): Promise<void> {
    let pauseMs: number | null = null;
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      rotate(program.command.log);
      const since = sizeOf(program.command.log);
      const startedAt = performance.now();
      const how = await once();
      if (stopping.signal.aborted) break;
      const words = await lastWords(program.command.log, since);
      if (!answered && (attempt >= ATTEMPTS || how === WRONG_CONFIGURATION)) throw cannotStart(program, how, words);
      pauseMs = nextPause(backOff, pauseMs, performance.now() - startedAt);
      events.ended(program, how, words, pauseMs);
      await pause(pauseMs, stopping.signal);
    }
  }

  /** Runs the program once; returns how it ended. */
  async function once(): Promise<string> {
    const gone = new AbortController();
    try {
      child = startChild(program.command);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    events.started(program, child.pid);
    const end = child.ended.finally(() => gone.abort());
    if (await answersBefore(gone.signal)) {
      if (answered) events.back(program);
      answered = true;
      first.resolve();
    }
    return end;
  }

  async function answersBefore(gone: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + FIRST_ANSWER_MS;
    while (!gone.aborted && !stopping.signal.aborted) {
      if (await succeeds(program.ping)) return true;
      if (!answered && performance.now() > deadline) first.reject(doesNotAnswer(program));
      await pause(PING_EVERY_MS, gone);
    }
    return false;
  }

  const running = run().catch(first.reject);
  return {
    answers: first.promise,
    stop: async () => {
      stopping.abort();
      first.reject(new Error("stopped"));
      if (child) await stopChild(child, program.command.stopSignal, program.stopWithinMs);
      await running;
    },
  };
}

async function succeeds(ping: () => Promise<void>): Promise<boolean> {
  try {
    await ping();
    return true;
  } catch {
    return false;
  }
}

/** Sleeps, or returns at once when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.resolve();
  const timer = setTimeout(done, ms);
  signal.addEventListener("abort", done, { once: true });
  function done() {
    clearTimeout(timer);
    signal.removeEventListener("abort", done);
    resolve();
  }
  return promise;
}

function cannotStart({ name, command }: Program, how: string, words: string): Error {
  return new Error(`${name} does not start (${how}): ${words}\nIts log: ${command.log}`);
}

function doesNotAnswer({ name, address, command }: Program): Error {
  return new Error(`${name} runs but does not answer at ${address}. Its log: ${command.log}`);
}
