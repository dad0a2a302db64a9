/** Callers, all in this process: makes this many calls, measures for this long, prints what it measured and ends. */
import { muLaw } from "@parley/shared/media/g711";
import { dial } from "@parley/shared/phone/dial";
import { type Caller, newCaller } from "./caller.ts";
import { openWireSocket } from "./wire-socket.ts";

export interface LoadFigures {
  calls: number;
  voiceToVoice: Spread;
  bargeIn: Spread;
  deviation: Spread;
  lost: number;
  wrong: number;
}

/** Milliseconds. */
export interface Spread {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

const { SERVER = "", CALLEE = "", ECHO = "", QUESTION = "", CALLS = "1", SECONDS = "10" } = process.env;
/** Warm-up: both sides talk for a while before anything counts. */
const WARM_UP_MS = 3_000;
/** A server takes fifty calls a second from one address. */
const BETWEEN_MS = 30;
const TICK_MS = 3;
const FRAME_SAMPLES = 160;
/** About -55 dB of the full scale. */
const NOISE = 60;
const NOISE_FRAMES = 50;
/** The question for an echo. */
const LOUD = muLaw.encode(new Int16Array(FRAME_SAMPLES).fill(16_000));

const question = framesOf(new Uint8Array(await Bun.file(QUESTION).arrayBuffer()));
const noise = Array.from({ length: NOISE_FRAMES }, () =>
  muLaw.encode(Int16Array.from({ length: FRAME_SAMPLES }, () => (Math.random() * 2 - 1) * NOISE)),
);
const callers: Caller[] = [];
const hangUps: (() => Promise<void>)[] = [];
const ticking = setInterval(() => {
  for (const caller of callers) caller.tick();
}, TICK_MS);

for (let at = 0; at < Number(CALLS); at++) {
  const socket = openWireSocket();
  if (ECHO === "") {
    const { media, ended, hangUp } = await dial({
      server: SERVER,
      callee: CALLEE,
      media: { address: "127.0.0.1", port: socket.port },
    });
    void ended.then((how) => how === "hung_up" && fail("a call was hung up"));
    hangUps.push(hangUp);
    callers.push(newCaller({ socket, to: media, question, noise, talksWith: "agent" }));
    await Bun.sleep(BETWEEN_MS);
  } else {
    const to = { address: "127.0.0.1", port: Number(ECHO) };
    callers.push(newCaller({ socket, to, question: [LOUD], noise, talksWith: "echo" }));
  }
}

await Bun.sleep(WARM_UP_MS);
for (const caller of callers) caller.count();
// Tells that measuring begins.
console.log("{}");
await Bun.sleep(Number(SECONDS) * 1_000);
const figures: LoadFigures = {
  calls: callers.length,
  voiceToVoice: spread(callers.flatMap(({ measured }) => measured.voiceToVoice)),
  bargeIn: spread(callers.flatMap(({ measured }) => measured.bargeIn)),
  deviation: spread(callers.flatMap(({ measured }) => measured.deviations)),
  lost: callers.reduce((sum, { measured }) => sum + measured.lost, 0),
  wrong: callers.reduce((sum, { measured }) => sum + measured.wrong, 0),
};
console.log(JSON.stringify(figures));
clearInterval(ticking);
await Promise.all(hangUps.map((hangUp) => hangUp()));
process.exit(0);

function framesOf(encoded: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(encoded.length / FRAME_SAMPLES) }, (_, at) =>
    encoded.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES),
  );
}

function spread(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function fail(why: string): never {
  console.log(JSON.stringify({ error: why }));
  process.exit(1);
}
