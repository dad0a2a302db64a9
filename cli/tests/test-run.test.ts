import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { runHere } from "./run-here.ts";

const TIMES = { started_at: "2026-01-31T12:00:00.000Z", ended_at: "2026-01-31T12:00:02.500Z" };
const attempt = (given: object) => ({
  ...{ attempt: 1, conversation_id: null, transcript: null, assertions: [], error: null, ...TIMES },
  ...given,
});
const failure = { type: "contains", turn: 2, passed: false, reason: 'No reply contains "<b>&\u0007"' };
const RUN = {
  ...{ run_id: "run_1", agent_id: "agt_1", agent_version: 7, cost_usd: 0.5, error: null },
  ...{ created_at: TIMES.started_at, ended_at: TIMES.ended_at },
};
const passing = {
  test_id: "tst_1",
  name: "Greets",
  passed: true,
  passes: 1,
  attempts: [attempt({ status: "PASSED" })],
};
const failing = {
  ...{ test_id: "tst_2", name: "Looks up", passed: false, passes: 0 },
  attempts: [attempt({ status: "FAILED", assertions: [failure, { type: "judge", passed: true, reason: "Yes." }] })],
};
const broken = {
  ...{ test_id: "tst_3", name: "Calls", passed: false, passes: 0 },
  attempts: [attempt({ status: "ERROR", error: "The call could not go on" })],
};

let asked: { line: string; body: unknown }[] = [];
/** What the stream of the run answers, each time it is opened. */
let streams: (() => Response | Promise<Response>)[] = [];
const api = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const text = await request.text();
    const { pathname } = new URL(request.url);
    asked.push({ line: `${request.method} ${pathname}`, body: text === "" ? null : JSON.parse(text) });
    if (pathname.endsWith("/events")) return (streams.shift() ?? refused)();
    if (pathname.includes("agt_gone")) return Response.json({ detail: "Agent not found" }, { status: 404 });
    return Response.json({ ...RUN, status: "QUEUED", results: [] });
  },
});
const refused = () => Response.json({ detail: "Not now" }, { status: 503 });
const folder = await mkdtemp(join(tmpdir(), "parley-junit-"));
afterAll(async () => {
  await api.stop(true);
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  streams = [];
});

const event = (name: string, run: object) => `event: ${name}\ndata: ${JSON.stringify({ ...RUN, ...run })}\n\n`;
const streaming = (...events: string[]) => new Response(events.join(""));
const parley = (...args: string[]) =>
  runHere(["test", "run", ...args], { PARLEY_URL: `http://127.0.0.1:${api.port}`, PARLEY_API_KEY: "vk_test" });

test("a run asks for the version, the tests and the cap, waits for its end, and exits 0 if all pass", async () => {
  streams = [
    () =>
      streaming(
        event("run", { status: "RUNNING", results: [] }),
        event("ended", { status: "PASSED", results: [passing] }),
      ),
  ];
  const options = ["--version", "published", "--test", "Greets", "--max-cost-usd", "1.5", "--allow-unpriced"];
  const { status, stdout } = await parley("agt_1", ...options);
  expect([status, stdout]).toEqual([
    0,
    "pass  Greets (1 of 1)\nPASSED: 1 of 1 tests passed for version 7, 0.50 USD, run_1\n",
  ]);
  expect(asked[0]).toEqual({
    line: "POST /v1/public/agents/agt_1/tests/run",
    body: { agent_version: "published", tests: ["Greets"], max_cost_usd: 1.5, unpriced: "allow" },
  });
});

test("a run with a failed test exits 1, prints it as JSON if wanted, and writes JUnit that any text leaves well formed", async () => {
  const file = join(folder, "results.xml");
  const ended = { status: "ERROR", results: [passing, failing, broken] };
  streams = [() => streaming(event("ended", ended))];
  const { status, stdout } = await parley("agt_1", "--junit", file, "--json");
  expect([status, JSON.parse(stdout)]).toEqual([1, { ...RUN, ...ended }]);
  const xml = await Bun.file(file).text();
  expect(xml).toContain('<testsuites tests="3" failures="1" errors="1" time="2.5">');
  expect(xml).toContain('<testcase classname="agt_1" name="Greets" time="2.5"/>');
  expect(xml).toContain("contains (turn 2): No reply contains &quot;&lt;b&gt;&amp;\uFFFD&quot;</failure>");
  expect(xml).toContain('<error message="The call could not go on">');
});

test("a run in which no test failed but one could not be held exits 2", async () => {
  streams = [() => streaming(event("ended", { status: "ERROR", results: [passing, broken] }))];
  const { status, stdout } = await parley("agt_1");
  expect([status, stdout]).toEqual([
    2,
    expect.stringContaining("FAIL  Calls (0 of 1)\n      The call could not go on"),
  ]);
});

test("a failed test shows the calls of tools that failed in it, such as one that no mock answers", async () => {
  const call = (name: string, is_error: boolean) => ({ name, arguments: { order: "7" }, result: "None.", is_error });
  const transcript = { turns: [{ turn: 1, tool_calls: [call("look_up", true), call("end_call", false)] }] };
  const unanswered = attempt({ status: "FAILED", transcript, assertions: [failure] });
  const results = [{ ...failing, attempts: [unanswered] }];
  streams = [() => streaming(event("ended", { status: "FAILED", results }))];
  const { status, stdout } = await parley("agt_1");
  expect([status, stdout.split("\n").slice(0, 3)]).toEqual([
    1,
    [
      "FAIL  Looks up (0 of 1)",
      '      contains (turn 2): No reply contains "<b>&\\u0007"',
      '      look_up {"order":"7"} (turn 1) failed: None.',
    ],
  ]);
});

test("a run goes on being watched when the gateway is replaced", async () => {
  streams = [
    () => streaming(event("run", { status: "RUNNING", results: [] })),
    refused,
    () => streaming(event("ended", { status: "PASSED", results: [passing] })),
  ];
  expect((await parley("agt_1")).status).toBe(0);
});

test("Ctrl-C cancels the run instead of leaving it to cost money, and exits 2", async () => {
  const cancelled = Promise.withResolvers<Response>();
  streams = [
    () => {
      for (let times = 0; times < 2; times++) process.emit("SIGINT");
      return cancelled.promise;
    },
  ];
  const listening = process.listenerCount("SIGINT");
  const ending = parley("agt_1");
  const line = "POST /v1/public/agents/agt_1/tests/runs/run_1/cancel";
  await eventually(() => expect(asked).toContainEqual({ line, body: null }));
  cancelled.resolve(streaming(event("ended", { status: "CANCELLED", results: [] })));
  const { status, stderr } = await ending;
  expect([status, stderr]).toEqual([2, "The run was cancelled\n"]);
  expect(asked.filter((each) => each.line === line)).toHaveLength(1);
  expect(process.listenerCount("SIGINT")).toBe(listening);
});

test.each([
  ["agent is not there", ["agt_gone"], "Agent not found"],
  ["version is none", ["agt_1", "--version", "newest"], "It must be a number, published or latest."],
])("a run whose %s exits 2", async (_, args, message) => {
  streams = [() => streaming(event("ended", { status: "PASSED", results: [passing] }))];
  const { status, stderr } = await parley(...args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("a run whose results could not be written does not begin, because it costs money, and exits 2", async () => {
  const { status, stderr } = await parley("agt_1", "--junit", join(folder, "no", "results.xml"));
  expect([status, stderr, asked]).toEqual([2, expect.stringContaining("Could not write"), []]);
});

test("a run whose results cannot be written after all prints them, and exits 2", async () => {
  streams = [() => streaming(event("ended", { status: "PASSED", results: [passing] }))];
  const { status, stdout, stderr } = await parley("agt_1", "--junit", folder);
  expect([status, stdout, stderr]).toEqual([
    2,
    expect.stringContaining("pass  Greets (1 of 1)"),
    expect.stringContaining("Could not write"),
  ]);
});
