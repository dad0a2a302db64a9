import { expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import type { VoiceDetector, VoiceEvent } from "../src/vad/detector.ts";
import { startSileroDetector } from "../src/vad/silero.ts";

/** "When do you open on Sunday?", spoken by flite. */
const SPOKEN = join(import.meta.dir, "fixtures/when-do-you-open.pcm");
const silence = (ms: number) => new Int16Array((SAMPLES_PER_SECOND / 1_000) * ms);

/** Sends audio as a leg does, as fast as the detector takes it. */
async function send(detector: VoiceDetector, parts: readonly Pcm[], heard: (event: VoiceEvent) => void) {
  const stream = detector.listen(heard);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += FRAME_SAMPLES) {
      stream.send(part.subarray(at, at + FRAME_SAMPLES));
      // Slower than the detector's pace, so that it drops nothing.
      if (at % (10 * FRAME_SAMPLES) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return stream;
}

test("a spoken sentence begins and ends, and silence and a hum are not speech", async () => {
  const detector = await startSileroDetector(silentLogger);
  try {
    const spoken = new Int16Array(await Bun.file(SPOKEN).arrayBuffer());
    const hum = silence(1_000).map((_, at) =>
      Math.round(3_000 * Math.sin((2 * Math.PI * 120 * at) / SAMPLES_PER_SECOND)),
    );
    const [speech, noise]: VoiceEvent["type"][][] = [[], []];
    const streams = await Promise.all([
      send(detector, [silence(300), spoken, silence(1_000)], ({ type }) => speech?.push(type)),
      send(detector, [silence(300), hum, silence(1_000)], ({ type }) => noise?.push(type)),
    ]);
    await eventually(() => {
      expect(speech?.at(0)).toBe("speech_began");
      expect(speech?.at(-1)).toBe("speech_ended");
    });
    expect(noise).toEqual([]);
    for (const stream of streams) stream.close();
  } finally {
    await detector.close();
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
