import type { Logger } from "@parley/shared/log";
import { framer } from "../audio/frames.ts";
import { FRAME_MS, type Pcm, rootMeanSquare } from "../audio/pcm.ts";
import { judgeWindow, SILENT, WINDOW_MS } from "./activity.ts";
import type { VoiceDetector, VoiceEvent } from "./detector.ts";
import type { FromThread, ToThread } from "./silero-thread.ts";

interface SileroDetector extends VoiceDetector {
  /** Settles when its threads have ended. */
  close(): Promise<void>;
}

const WINDOW_SAMPLES = 512;
/**
 * Limit for a call's windows that the thread has not judged yet; further audio is not judged, so a slow machine hears less
 * instead of later.
 */
const WAITING_MAX = 30;
const THREADS = 2;
/** How long windows wait for others, because several in one run cost less. Events are dated, so this delays no decision. */
const GATHER_MS = 10;
/** A window waits for its last frame and for other windows. */
const USUALLY_BEHIND_MS = WINDOW_MS + FRAME_MS + GATHER_MS;
/** A detector that has stopped delays nobody longer. */
const BEHIND_MAX_MS = WAITING_MAX * WINDOW_MS;

/**
 * Starts Silero v5 in threads of its own: inference takes 0.4 ms a window, and the loop that paces audio must not wait for it. A thread
 * that dies is started again, after a pause that grows while it keeps dying; the calls that it served continue, their history lost.
 * @param startThread for tests
 * @throws when the model cannot be loaded
 */
export async function startSileroDetector(log: Logger, startThread = newThread): Promise<SileroDetector> {
  const streams = new Map<number, Stream>();
  const threads = Array.from({ length: THREADS }, () => openThread(streams, log, startThread));
  await Promise.all(threads.map(({ ready }) => ready));
  let opened = 0;
  return {
    listen: (heard) => {
      const call = opened++;
      const thread = threads[call % THREADS];
      const stream: Stream = { heard, activity: SILENT, sent: [], judgedAt: performance.now() };
      streams.set(call, stream);
      const send = framer((window) => {
        if (stream.sent.length >= WAITING_MAX) return;
        stream.sent.push({ at: performance.now(), loudness: loudnessOf(window) });
        thread?.judge(call, window);
      }, WINDOW_SAMPLES);
      return {
        send,
        behindMs: () => {
          const behindMs = performance.now() - stream.judgedAt - USUALLY_BEHIND_MS;
          return Math.min(BEHIND_MAX_MS, Math.max(0, behindMs));
        },
        close: () => {
          streams.delete(call);
          thread?.forget(call);
        },
      };
    },
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Stream {
  heard(event: VoiceEvent): void;
  activity: typeof SILENT;
  /** The windows in progress, oldest first, and when they were sent. */
  sent: { at: number; loudness: number[] }[];
  /** When the newest window that was judged was sent. */
  judgedAt: number;
}

/** The parts of a window: eighths of 4 ms, the precision with which the end of a voice is known. */
function loudnessOf(window: Pcm): number[] {
  const length = window.length / LOUDNESS_PARTS;
  return Array.from({ length: LOUDNESS_PARTS }, (_, part) => {
    return rootMeanSquare(window.subarray(part * length, (part + 1) * length));
  });
}

const LOUDNESS_PARTS = 8;

interface Thread {
  /** Settles when it has judged its first window; rejects when it cannot. */
  ready: Promise<void>;
  judge(call: number, window: Pcm): void;
  forget(call: number): void;
  close(): Promise<void>;
}

/** Between the death of a thread and the next; the first again after a thread that has run for a while. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 5_000;
const STEADY_MS = 30_000;

/** Stands in for a call in the first window of a thread, which only tests the thread. */
const NOBODY = -1;

function newThread(): Worker {
  return new Worker(new URL("./silero-thread.ts", import.meta.url));
}

function openThread(streams: Map<number, Stream>, log: Logger, startThread: () => Worker): Thread {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const calls = new Set<number>();
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  let pauseMs = RESTART_MIN_MS;
  let restarting: Timer | undefined;
  /** Null while it waits for its restart: windows sent then are not judged. */
  let worker: Worker | null = start();

  function start(): Worker {
    const started = startThread();
    const startedAt = performance.now();
    started.onmessage = ({ data: { calls: judged, probabilities } }: MessageEvent<FromThread>) => {
      for (const [at, call] of judged.entries()) {
        if (call === NOBODY) resolve();
        else judge(streams.get(call), probabilities[at] as number);
      }
    };
    started.onerror = ({ message }) => {
      if (isClosed) return;
      reject(new Error(`the voice detector cannot run: ${message}`));
      log.error({ reason: message }, "a thread of the voice detector died");
      worker = null;
      dropSent();
      if (performance.now() - startedAt > STEADY_MS) pauseMs = RESTART_MIN_MS;
      restarting = setTimeout(() => {
        dropSent();
        worker = start();
      }, pauseMs);
      pauseMs = Math.min(RESTART_MAX_MS, 2 * pauseMs);
    };
    started.addEventListener("close", () => isClosed && closed.resolve());
    return started;
  }

  /** Windows sent to a dead thread are never judged. */
  function dropSent(): void {
    for (const call of calls) streams.get(call)?.sent.splice(0);
  }

  const tell = (message: ToThread) => worker?.postMessage(message);
  let waiting: { call: number; window: Pcm }[] = [];
  let timer: Timer | undefined;
  const sendWaiting = () => {
    timer = undefined;
    const samples = new Int16Array(waiting.length * WINDOW_SAMPLES);
    for (const [at, { window }] of waiting.entries()) samples.set(window, at * WINDOW_SAMPLES);
    tell({ calls: waiting.map(({ call }) => call), samples });
    waiting = [];
  };
  tell({ calls: [NOBODY], samples: new Int16Array(WINDOW_SAMPLES) });
  return {
    ready,
    judge: (call, window) => {
      calls.add(call);
      waiting.push({ call, window });
      timer ??= setTimeout(sendWaiting, GATHER_MS);
    },
    forget: (call) => {
      calls.delete(call);
      waiting = waiting.filter((each) => each.call !== call);
      tell({ forget: call });
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(restarting);
      if (worker) tell({ end: true });
      else closed.resolve();
      return closed.promise;
    },
  };
}

function judge(stream: Stream | undefined, probability: number): void {
  const window = stream?.sent.shift();
  // Nothing waits for a dead thread's results.
  if (!stream || !window) return;
  const { activity, event } = judgeWindow(stream.activity, { probability, loudness: window.loudness });
  stream.activity = activity;
  if (event) stream.heard({ ...event, agoMs: event.agoMs + performance.now() - window.at });
  // Only now is its event known.
  stream.judgedAt = window.at;
}
