import { afterAll, afterEach, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { recordLog } from "@parley/testkit/recorded-log";
import { startSweeps, sweepQueues } from "../src/jobs/sweeps.ts";
import { startWorker } from "../src/jobs/worker.ts";
import { startTelemetry } from "../src/telemetry/telemetry.ts";
import { OFTEN_MS, startJobKit } from "./fixtures/job-kit.ts";

const telemetry = startTelemetry("test", {
  PARLEY_ADMIN_LISTEN: "127.0.0.1:0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "",
  OTEL_TRACES_SAMPLER_ARG: 1,
  OTEL_BSP_SCHEDULE_DELAY: 5_000,
});
const kit = await startJobKit();
afterEach(() => kit.clear());
afterAll(async () => {
  await kit.stop();
  await telemetry.stop();
});

const DAY_MS = 24 * 60 * 60_000;

test("a sweep that deletes pauses while the clocks are more than a day apart, says so, and continues afterwards", async () => {
  const clock = fakeClock();
  const { log, lines } = recordLog();
  const ran = { deletes: 0, closes: 0 };
  const sweeps = [
    { name: "deletes", everyMs: 60_000, deletes: true, run: async () => void ran.deletes++ },
    { name: "closes", everyMs: 60_000, run: async () => void ran.closes++ },
  ];
  clock.contradict(1.5 * DAY_MS);
  const queues = sweepQueues(clock, log, sweeps, new AbortController().signal);
  const worker = startWorker(kit.connect(), queues, log, { clock, pollMs: OFTEN_MS });
  kit.atEnd(() => worker.stop());
  expect(await telemetry.metrics()).toMatch(/^parley_sweeps_refused_total\{sweep="deletes"\} 0$/m);
  await startSweeps(kit.db, clock, sweeps);
  await eventually(() => {
    expect(lines.filter(({ level }) => level === "error")).toMatchObject([
      { level: "error", sweep: "deletes", doubt_ms: 1.5 * DAY_MS },
    ]);
    expect(ran).toEqual({ deletes: 0, closes: 1 });
  });
  expect(await telemetry.metrics()).toMatch(/^parley_sweeps_refused_total\{sweep="deletes"\} 1$/m);
  clock.contradict(0.5 * DAY_MS);
  await eventually(async () => expect((await kit.rows()).map(({ leasedUntil }) => leasedUntil)).toEqual([null, null]));
  clock.advance(60_000);
  await eventually(() => expect(ran).toEqual({ deletes: 1, closes: 2 }));
});
