import { expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import type { VoiceEvent } from "../src/vad/detector.ts";
import { startSileroDetector } from "../src/vad/silero.ts";
import type { FromThread } from "../src/vad/silero-thread.ts";

/** "When do you open on Sunday?", spoken by flite. */
const SPOKEN = join(import.meta.dir, "fixtures/when-do-you-open.pcm");
const silence = (ms: number) => new Int16Array((SAMPLES_PER_SECOND / 1_000) * ms);

const WINDOW_SAMPLES = 512;
/** Fewer windows than may wait, beyond which the detector drops some. */
const WINDOWS_AT_ONCE = 20;

/** A detector, and the number of windows that it has judged. */
async function startCounted() {
  let judged = 0;
  const detector = await startSileroDetector(silentLogger, () => {
    const thread = new Worker(new URL("../src/vad/silero-thread.ts", import.meta.url));
    thread.addEventListener("message", ({ data: { calls } }: MessageEvent<FromThread>) => {
      // The first one only tests a thread, and belongs to no call.
      judged += calls.filter((call) => call >= 0).length;
    });
    return thread;
  });
  return { detector, judged: () => judged };
}

/** Sends audio as fast as the detector judges it, however busy the machine is. */
async function send({ detector, judged }: Awaited<ReturnType<typeof startCounted>>, audio: Pcm) {
  const heard: VoiceEvent["type"][] = [];
  const stream = detector.listen(({ type }) => heard.push(type));
  const before = judged();
  for (let at = 0; at < audio.length; ) {
    const end = Math.min(audio.length, at + WINDOWS_AT_ONCE * WINDOW_SAMPLES);
    for (; at < end; at += FRAME_SAMPLES) stream.send(audio.subarray(at, Math.min(end, at + FRAME_SAMPLES)));
    at = end;
    await eventually(() => expect(judged() - before).toBe(Math.floor(end / WINDOW_SAMPLES)));
  }
  stream.close();
  return heard;
}

test("a spoken sentence begins and ends, and silence and a hum are not speech", async () => {
  const counted = await startCounted();
  try {
    const spoken = new Int16Array(await Bun.file(SPOKEN).arrayBuffer());
    const hum = silence(1_000).map((_, at) =>
      Math.round(3_000 * Math.sin((2 * Math.PI * 120 * at) / SAMPLES_PER_SECOND)),
    );
    const between = (sound: Pcm) => Int16Array.from([...silence(300), ...sound, ...silence(1_000)]);
    const speech = await send(counted, between(spoken));
    expect(speech.at(0)).toBe("speech_began");
    expect(speech.at(-1)).toBe("speech_ended");
    expect(await send(counted, between(hum))).toEqual([]);
  } finally {
    await counted.detector.close();
  }
});

test("a detector that is closed while it judges leaves the process alive", async () => {
  const detector = await startSileroDetector(silentLogger);
  const streams = Array.from({ length: 8 }, () => detector.listen(() => {}));
  for (const stream of streams) stream.send(silence(900));
  await detector.close();
});

test("a thread that dies is started again, not before a pause, and the calls that it served are heard again", async () => {
  const threads: FakeThread[] = [];
  const detector = await startSileroDetector(silentLogger, () => {
    const thread = fakeThread();
    threads.push(thread);
    return thread as never;
  });
  const stream = detector.listen(() => {});
  const dies = threads[0] as FakeThread;
  stream.send(silence(320));
  await eventually(() => expect(dies.windows).toBeGreaterThan(0));
  dies.onerror?.({ message: "out of memory" });
  // No thread judges this audio, and nothing waits for it.
  stream.send(silence(320));
  expect(threads).toHaveLength(2);
  const next = await eventually(() => threads[2] ?? Promise.reject(new Error("not started again")));
  stream.send(silence(320));
  await eventually(() => expect(next.windows).toBeGreaterThan(0));
  stream.close();
  await detector.close();
});

interface FakeThread {
  windows: number;
  onerror: ((error: object) => void) | null;
}

/** Counts windows, and judges only the one that tests the thread and belongs to no call. */
function fakeThread(): FakeThread {
  let closed = () => {};
  const thread = {
    windows: 0,
    onmessage: null as ((message: object) => void) | null,
    onerror: null as FakeThread["onerror"],
    addEventListener: (_close: string, listener: () => void) => {
      closed = listener;
    },
    postMessage: ({ calls = [], end }: { calls?: number[]; end?: true }) => {
      if (end) return closed();
      if (calls[0] === -1) queueMicrotask(() => thread.onmessage?.({ data: { calls, probabilities: [0] } }));
      else thread.windows += calls.length;
    },
  };
  return thread;
}
