import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readWav } from "@parley/shared/media/wav";
import { eventually } from "@parley/testkit/eventually";
import { testProgramWords } from "@parley/testkit/programs/binaries";
import { carrierStandIn } from "../kit/calls/carrier-stand-in.ts";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const PARLEY = testProgramWords("parley", "cli/src/main.ts");
const GREETING = "Hello, this is Acme.";
const NUMBER = "+12025550160";
const REPLY = "We are open from nine to five.";
const QUESTION = "When are you open on Sunday?";
/** On a busy machine a line has gaps, and is heard in parts: the recognizer hears the question in each of them. */
const HEARD = `${RegExp.escape(QUESTION)}(?: ${RegExp.escape(QUESTION)})*`;

const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text(REPLY);
  exchange.finish();
});
// The guides' calls, in tests/api/documentation.test.ts, are recognized by the stand-in.
const speech = startScriptedSpeech(QUESTION, 1);
const api = stack.api(stack.owners[0].apiKey);
const folder = await mkdtemp(join(tmpdir(), "parley-call-"));
afterAll(async () => {
  await speech.stop();
  await model.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a call from the terminal is spoken, printed as it goes, and recorded with both sides", async () => {
  const agentId = await createAgent(api, model, {
    ...speech.settings,
    first_message_prompt: GREETING,
  });
  const record = join(folder, "call.wav");
  const { status, stdout } = await parley("call", agentId, "--say", QUESTION, "--record", record);
  expect({ status, stdout }).toMatchObject({ status: 0 });
  expect(stdout).toStartWith(`Connected with ${agentId}.`);
  expect(stdout).toContain(`agent  ${GREETING}\n`);
  expect(stdout).toMatch(new RegExp(`\nyou    ${HEARD}\n`));
  expect(stdout).toContain(`agent  ${REPLY}\n`);
  expect(stdout).toMatch(/\nThe call is over\. Conversation \S+: COMPLETED\n/);

  const { channels, samples } = readWav(await Bun.file(record).bytes()) ?? {};
  expect(channels).toBe(2);
  for (const side of [0, 1]) {
    expect(samples?.some((sample, at) => at % 2 === side && Math.abs(sample) > 3_000)).toBeTrue();
  }
});

test("a test of the channel voice is a call in which the user's line is spoken, and asserts on what was recognized and heard", async () => {
  const agentId = await createAgent(api, model, {
    ...speech.settings,
    first_message_prompt: GREETING,
  });
  const path = `/agents/${agentId}/tests`;
  const assertions = [
    { type: "contains", value: "this is Acme" },
    { type: "equals", turn: 1, value: REPLY },
    { type: "latency_ms", max: 600_000 },
    { type: "ended_by", value: "user" },
  ];
  const messages = [QUESTION];
  await api.post(path, { name: "Opening hours", channel: "voice", messages, assertions });
  const { body } = await api.post(`${path}/run`, {});
  const run = await eventually(async () => {
    const now = (await api.get(`${path}/runs/${body.run_id}`)).body;
    expect(now.ended_at).not.toBeNull();
    return now;
  });
  const [attempt] = run.results[0].attempts;
  expect(attempt.assertions.map(({ passed, reason }: { passed: boolean; reason: string }) => [passed, reason])).toEqual(
    assertions.map(() => [true, expect.any(String)]),
  );
  const user = expect.stringMatching(new RegExp(`^${HEARD}$`));
  expect(attempt.transcript.turns).toMatchObject([{ user, agent: REPLY }]);
});

test("a call that cannot be printed hangs up, and is a failure in one sentence", async () => {
  const agentId = await createAgent(api, model, { ...speech.settings, first_message_prompt: GREETING });
  // Without lines to say, it would listen until the agent hangs up.
  const child = Bun.spawn(["sh", "-c", '"$@" > /dev/full', "sh", ...PARLEY, "call", agentId], {
    cwd: CHECKOUT,
    env: { ...process.env, PARLEY_HOME: stack.home.path, PARLEY_API_KEY: stack.owners[0].apiKey },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stderr = await child.stderr.text();
  expect({ status: await child.exited, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^Could not write the output: ENOSPC.*\n$/),
  });
});

test("a phone of the stand-in carrier calls a number of the owner's, and its agent's conversation is printed", async () => {
  const manage = stack.manage(await createSession(stack, stack.owners[0].ownerId));
  const account = await carrierStandIn(stack.address("carrier")).addTwilio([NUMBER]);
  const { body } = await manage.post("/carriers", account);
  const imported = await manage.post(`/carriers/${body.carrier_id}/numbers`, { mobile_number: NUMBER });
  expect(imported).toMatchObject({ status: 200 });
  const unanswered = await parley("call", NUMBER);
  expect(unanswered).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("No agent answered: completed\nsaid: "),
  });

  await createAgent(api, model, { ...speech.settings, first_message_prompt: GREETING, agent_mobile_number: [NUMBER] });
  const { status, stdout } = await parley("call", NUMBER, "--say", "When are you open?");
  expect({ status, stdout }).toMatchObject({ status: 0 });
  expect(stdout).toStartWith(`A phone of the stand-in carrier calls ${NUMBER}.\n`);
  expect(stdout).toContain(`agent  ${GREETING}\n`);
  expect(stdout).toContain(`agent  ${REPLY}\n`);
  expect(stdout).toMatch(/\nThe call is over\. Conversation \S+: COMPLETED\n/);
});

test("another number needs an agent that calls it", async () => {
  const { status, stderr } = await parley("call", "+14155550188");
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "+14155550188 is not one of your numbers. Name the agent that calls the number: --agent agt_…\n",
  });
});

test("a call to an agent that lacks something for calls says what", async () => {
  const { body } = await api.post("/agents", { agent_name: "Ada", agent_type: "INBOUND" });
  const { status, stderr } = await parley("call", body.id);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "Agent has no LLM configuration: set llm\n" });
});

test("a call to a missing agent says so", async () => {
  const { status, stderr } = await parley("call", "agt_nobody", "--say", "Hello");
  expect({ status, stderr }).toEqual({ status: 1, stderr: "There is no agent agt_nobody on this stack\n" });
});

async function parley(...args: string[]) {
  const child = Bun.spawn([...PARLEY, ...args], {
    cwd: CHECKOUT,
    env: { ...process.env, PARLEY_HOME: stack.home.path, PARLEY_API_KEY: stack.owners[0].apiKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, stdout, stderr };
}
