import { afterAll, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { openDatabase } from "../src/db/database.ts";
import { observeBacklog } from "../src/jobs/backlog.ts";
import { startTelemetry } from "../src/telemetry/telemetry.ts";
import { QUEUE, startJobKit } from "./fixtures/job-kit.ts";

const telemetry = startTelemetry("test", {
  PARLEY_ADMIN_LISTEN: "127.0.0.1:0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "",
  OTEL_TRACES_SAMPLER_ARG: 1,
  OTEL_BSP_SCHEDULE_DELAY: 5_000,
});
const kit = await startJobKit();
afterAll(async () => {
  await kit.stop();
  await telemetry.stop();
});

test("metrics report a queue's backlog, and the last known one while the database does not answer", async () => {
  const db = openDatabase({ url: kit.url, name: "backlog-test", max: 1 });
  const clock = fakeClock(new Date("2030-01-01T00:10:00Z"));
  const unobserve = observeBacklog(db, [QUEUE], clock);
  await kit.enqueue("job_1", new Date("2030-01-01T00:00:00Z"));
  await eventually(async () => {
    const told = await telemetry.metrics();
    expect(told).toMatch(/^parley_jobs_due\{queue="test"\} 1$/m);
    expect(told).toMatch(/^parley_jobs_oldest_due_age\{queue="test"\} 600$/m);
  });

  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = db.begin(async (tx) => {
    await tx`select 1`;
    await released;
  });
  const meanwhile = await telemetry.metrics();
  expect(meanwhile).toMatch(/^db_client_statements_under_way \d+$/m);
  expect(meanwhile).toMatch(/^parley_jobs_due\{queue="test"\} 1$/m);
  release();
  await held;
  unobserve();
  await db.end();
});
