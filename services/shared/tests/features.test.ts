import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { systemClock } from "../src/clock.ts";
import { enqueueJob } from "../src/jobs/store.ts";
import type { Queue } from "../src/jobs/worker.ts";
import { silentLogger } from "../src/log.ts";
import { type Feature, handlersOf, startFeatures } from "../src/process/feature.ts";
import type { Definition } from "../src/rpc/definition.ts";
import { newJob, QUEUE, startJobKit } from "./fixtures/job-kit.ts";

const kit = await startJobKit();
afterEach(() => kit.clear());
afterAll(() => kit.stop());

test("features stop in the order of the list, each once its own jobs have ended, while the jobs of later ones still run", async () => {
  const happened: string[] = [];
  const job = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const placing = queueOf(async () => {
    happened.push("a job of the first begins");
    await job.promise;
    happened.push("a job of the first ends");
  });
  const keeping = queueOf(async () => void happened.push("a job of the second"));
  const features = await start([
    {
      queues: { [QUEUE]: placing },
      stop: async () => {
        happened.push("the first stops");
        await first.promise;
      },
    },
    { queues: { keeping }, stop: () => void happened.push("the second stops") },
  ]);
  await kit.enqueue("job");
  await eventually(() => expect(happened).toEqual(["a job of the first begins"]));

  const stopped = features.stop();
  job.resolve();
  await eventually(() => expect(happened.at(-1)).toBe("the first stops"));
  await kit.enqueue("too late");
  await enqueueJob(kit.db, { ...newJob("kept"), queue: "keeping" });
  await eventually(() => expect(happened.at(-1)).toBe("a job of the second"));
  first.resolve();
  await stopped;

  expect(happened).toEqual([
    "a job of the first begins",
    "a job of the first ends",
    "the first stops",
    "a job of the second",
    "the second stops",
  ]);
  expect((await kit.rows()).map(({ jobId }) => jobId)).toEqual(["too late"]);
});

test("a sweep that is running ends early when its service stops, and is left to another process", async () => {
  const begun = Promise.withResolvers<void>();
  const sweep = {
    name: "sweep",
    everyMs: 60_000,
    run: async (_now: Date, stopping: AbortSignal) => {
      begun.resolve();
      await new Promise((resolve) => stopping.addEventListener("abort", resolve));
    },
  };
  const features = await start([{ sweeps: [sweep] }]);
  await begun.promise;
  await features.stop();
  const [left] = await kit.rows();
  expect(left?.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
});

test("two features with an RPC of the same name are refused when the service starts", () => {
  const handler = async () => ({});
  const features = [{ handlers: { getCall: handler } }, { handlers: { getCall: handler } }];
  expect(() => handlersOf(features as unknown as Feature<Definition>[])).toThrow("Two features have getCall");
});

function start(features: readonly Pick<Feature<Definition>, "queues" | "sweeps" | "stop">[]) {
  return startFeatures(features, { db: kit.connect(), clock: systemClock, log: silentLogger });
}

function queueOf(run: () => Promise<void>): Queue {
  return { concurrency: 1, leaseMs: 60_000, attemptsMax: 1, run };
}
