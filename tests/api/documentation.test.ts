import { afterAll, expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import { obtainPocketSphinx } from "../kit/calls/pocketsphinx.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";

const ROOT = join(import.meta.dir, "../..");

const stack = await sharedStack();
// The examples expect a clone with the stack's home in it.
const folder = await mkdtemp(join(tmpdir(), "parley-docs-"));
await mkdir(join(folder, "clone"));
await symlink(stack.home.file("."), join(folder, "clone", ".parley"));
for (const name of ["package.json", "cli", "dev"]) await symlink(join(ROOT, name), join(folder, "clone", name));
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** The shell examples of a page from a heading on. */
async function examples(page: string, below: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, page)).text();
  const section = text.slice(text.indexOf(below));
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThan(0);
  return blocks;
}

/** The output of a page's shell examples, run one after the other as a reader pastes them. */
async function paste(page: string, below: string): Promise<string> {
  return run(await examples(page, below));
}

function run(blocks: readonly string[]): string {
  const shell = Bun.spawnSync(["bash", "-c", ["set -e", ". .parley/dev.env", ...blocks].join("\n")], {
    cwd: join(folder, "clone"),
    env: { PATH: process.env.PATH },
  });
  // `bun run` prints the command that it runs.
  expect(shell.stderr.toString().replaceAll(/^\$ bun cli.*\n/gm, "")).toBe("");
  expect(shell.exitCode).toBe(0);
  return shell.stdout.toString();
}

/** The JSON documents among the lines. */
function documentsIn(printed: string): Record<string, unknown>[] {
  return printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

test("the README's quick start, pasted, creates an agent, chats with and without streaming, and reads the conversation", async () => {
  const printed = await paste("README.md", "## Quick start");
  expect(printed).toMatch(/^Agent: agt_[0-9a-z]{26}$/m);
  const sessionId = printed.match(/^Session: ([0-9a-f-]{36})$/m)?.[1];
  expect(sessionId).toBeString();
  const [reply, session, list] = documentsIn(printed);
  expect(reply).toEqual({ response: expect.stringContaining("Ada"), session_id: sessionId });
  expect(session).toMatchObject({ session_id: sessionId, status: "IN_PROGRESS", message_count: 4 });
  expect(list).toMatchObject({ status: "success", pagination: { total: 1 } });
});

test("the tutorial, pasted, chats with and without streaming, and prints the webhook of the conversation that it ends", async () => {
  const [port = 0] = await freePorts(1);
  const blocks = (await examples("docs/tutorial.md", "# Your first agent")).map((block) =>
    block.replaceAll("9000", String(port)),
  );
  const isReceiver = (block: string) => block.includes("Bun.serve");
  const printed = await receive(blocks.filter(isReceiver).join("\n"), port, () =>
    run(blocks.filter((block) => !isReceiver(block))),
  );
  expect(printed.pasted).toContain("Gladly. What is the first thing to know about your order?\n");
  expect(printed.pasted).toContain('{"response":"My name is Ada. How can I help?"');
  const conversation = documentsIn(printed.pasted).find((document) => "conversation_status" in document);
  expect(conversation).toMatchObject({ conversation_status: "IN_PROGRESS" });
  expect(conversation?.conversation_transcript).toHaveLength(5);
  expect(documentsIn(printed.received)).toEqual([
    expect.objectContaining({ event: "conversation.completed", conversation_id: conversation?.conversation_id }),
  ]);
});

test("the page on testing agents, pasted, tests an agent, and its workflow does in continuous integration, until a test fails", async () => {
  const printed = await paste("docs/testing-agents.md", "# Testing agents");
  expect(printed).toContain("pass  Says its name (1 of 1)\nPASSED: 1 of 1 tests passed for version 1");
  const [tested, fromConversation, replay] = documentsIn(printed);
  expect([tested?.name, fromConversation?.name, replay?.status]).toEqual([
    "Says its name",
    "As on the phone",
    "QUEUED",
  ]);
  const text = await Bun.file(join(ROOT, "docs/testing-agents.md")).text();
  const [, workflow = ""] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
  const { jobs } = Bun.YAML.parse(workflow) as { jobs: { test: { steps: { run?: string; env?: object }[] } } };
  const [step] = jobs.test.steps.filter((each) => each.run?.includes("test run"));
  expect(Object.keys(step?.env ?? {})).toEqual(["PARLEY_URL", "PARLEY_API_KEY", "AGENT_ID"]);
  const work = (tests: string) =>
    Bun.spawnSync(["bash", "-c", `. .parley/dev.env; unset PARLEY_HOME; ${step?.run}${tests}`], {
      cwd: join(folder, "clone"),
      env: { PATH: process.env.PATH, AGENT_ID: String(tested?.agent_id) },
    });
  expect(work(' --test "Says its name"').exitCode).toBe(0);
  const failing = { name: "Says goodbye", messages: ["Hello"], assertions: [{ type: "contains", value: "Goodbye" }] };
  run([
    `curl -sSf "$PARLEY_URL/v1/public/agents/${tested?.agent_id}/tests" -H "X-API-Key: $PARLEY_API_KEY" \\
      -H "Content-Type: application/json" -d '${JSON.stringify(failing)}'`,
  ]);
  const failed = work("");
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout.toString()).toContain("FAIL  Says goodbye (0 of 1)\n      contains: ");
  const results = await Bun.file(join(folder, "clone/results.xml")).text();
  expect(results).toContain('<testsuites tests="3" failures="1" errors="0"');
  expect(work(' --test "No such test"').exitCode).toBe(2);
});

test("the tour, pasted, makes a conversation of each type, and they are in the list", async () => {
  await obtainPocketSphinx();
  const blocks = await examples("docs/tour.md", "# A conversation on each channel");
  const list = blocks.pop() ?? "";
  const printed = run(blocks);
  const agentId = printed.match(/^agt_\w+$/m)?.[0];
  // The reply of the chat, and the reply of the page's call.
  expect(printed).toMatch(/^agent {2}Hello, this is Acme\.$/m);
  expect(printed).toContain("outcome");
  const heard = { role: "user", content: expect.not.stringContaining("could not be transcribed") };
  const said = { role: "assistant", content: expect.any(String) };
  await eventually(() => {
    const [{ data = [] } = {}] = documentsIn(run([`AGENT_ID=${agentId}`, list])) as { data?: Conversation[] }[];
    const kinds = data.map(({ conversation_type, calling_type }) => [conversation_type, calling_type].join(" ").trim());
    expect(kinds.toSorted()).toEqual(KINDS);
    for (const { conversation_type, conversation_transcript: transcript } of data) {
      const roles = conversation_type === "WHATSAPP" ? [heard, said] : [said];
      expect([conversation_type, transcript]).toEqual([
        conversation_type,
        expect.arrayContaining(roles.map((message) => expect.objectContaining(message))),
      ]);
    }
  }, WITHIN_MS);
}, 600_000);

/** Speech takes long on a busy machine. */
const WITHIN_MS = 240_000;
const KINDS = ["CHAT", "DAILY", "TELEPHONY INBOUND", "TELEPHONY OUTBOUND", "WEB", "WHATSAPP"];

interface Conversation {
  conversation_type: string;
  calling_type?: string | null;
  conversation_transcript: object[];
}

/** Runs a receiver during `work`, until it has printed something. */
async function receive(
  command: string,
  port: number,
  work: () => string,
): Promise<{ pasted: string; received: string }> {
  const receiver = Bun.spawn(["bash", "-c", `exec ${command}`], { stdio: ["ignore", "pipe", "inherit"] });
  let received = "";
  const reading = (async () => {
    for await (const bytes of receiver.stdout) received += new TextDecoder().decode(bytes);
  })();
  try {
    await eventually(async () => (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })).end());
    const pasted = work();
    await eventually(() => expect(received).toEndWith("\n"));
    return { pasted, received };
  } finally {
    receiver.kill("SIGKILL");
    await receiver.exited;
    await reading;
  }
}

test("the guide to tools, pasted, starts a server and makes an agent that books a table there, by chat and by voice", async () => {
  await obtainPocketSphinx();
  const [port = 0] = await freePorts(1);
  const onFreePort = (text: string) => text.replaceAll("9100", String(port));
  const [, server = ""] = /^```ts\n(.*?)^```$/ms.exec(await Bun.file(join(ROOT, "docs/tools.md")).text()) ?? [];
  await Bun.write(join(folder, "clone", "booking.ts"), onFreePort(server));
  const blocks = (await examples("docs/tools.md", "# Agents that act")).map((block) =>
    // The recognizer misunderstands, most of all on a busy machine; the page says to call again.
    block.includes("parley call")
      ? `for call in 1 2 3 4 5; do\n${block}grep -q "for 3" booking.log && break\ndone\n`
      : block,
  );
  const printed = run(["trap 'kill $(jobs -p)' EXIT", ...blocks.map(onFreePort)]);
  expect(printed).toContain("2 tables are free on Friday.");
  expect(printed).toContain('{"response":"Your table for 4 on Friday is booked."');
  expect(printed).toContain("booked for 4 on Friday, phone +14155550101\n");
  expect(printed).toContain("booked for 3 on Friday, phone unknown\n");
  const conversation = documentsIn(printed).find((document) => "conversation_transcript" in document);
  const call = expect.objectContaining({ name: "book_table", status: "SUCCEEDED", http_status: 201 });
  expect(conversation?.conversation_transcript).toContainEqual(expect.objectContaining({ tool_calls: [call] }));
}, 600_000);

test("the guide to versions, pasted, shows a diff, rolls back, splits the traffic and compares two versions", async () => {
  const printed = await paste("docs/versions.md", "# Versions of an agent");
  const [versions, diff, rollback, log, split, comparison] = documentsIn(printed);
  expect(versions).toMatchObject({ versions: [{ agent_version: 2, published: true }, { agent_version: 1 }] });
  expect(diff?.changes).toContainEqual(expect.objectContaining({ field: "prompt.prompt_content" }));
  expect(rollback).toMatchObject({ publish: { kind: "rollback", agent_version: 1 }, became_manual: true });
  expect(log?.publishes).toContainEqual(rollback?.publish);
  expect(split).toMatchObject({ publish: { kind: "traffic" }, publishing: "manual" });
  expect(printed).toMatch(/^1 +90 %$/m);
  expect(comparison?.differences).toContainEqual(
    expect.objectContaining({ figure: "tool_failures", verdict: "too_few" }),
  );
});

test("the guide to knowledge, pasted, makes an agent that tells a price by chat and by voice, and the new one after a correction", async () => {
  await obtainPocketSphinx();
  const blocks = (await examples("docs/knowledge.md", "# Agents that know")).map((block) =>
    // The recognizer misunderstands, most of all on a busy machine; the page says to call again.
    block.includes("parley call")
      ? `for call in 1 2 3 4 5; do\n${block.trimEnd()} | tee heard.txt\ngrep -q "forty" heard.txt && break\ndone\n`
      : block,
  );
  const printed = run(blocks);
  expect(printed).toContain("prices.md > Prices of our workshop  score 0.");
  const answers = documentsIn(printed).filter((document) => "response" in document);
  expect(answers.map(({ response }) => response)).toEqual(["Small repair: forty euros.", "Small repair: fifty euros."]);
  expect(printed).toMatch(/^agent .*forty euros/m);
  const conversation = documentsIn(printed).find((document) => "conversation_transcript" in document);
  const source = { name: "prices.md", chunk_id: expect.stringMatching(/^chk_/), score: expect.any(Number) };
  expect(conversation?.conversation_transcript).toContainEqual(
    expect.objectContaining({ sources: [expect.objectContaining(source)] }),
  );
}, 600_000);

test("the guide to models of one's own, pasted, makes an agent on a model, a recognizer and a voice of one's own", async () => {
  const [agent] = documentsIn(await paste("docs/self-hosted-models.md", "## An agent on these servers"));
  expect(agent).toMatchObject({
    llm: { provider_name: "CUSTOM_LLM" },
    stt: { provider_name: "CUSTOM_STT" },
    tts: { provider_name: "CUSTOM_TTS", voice_id: "af_heart" },
  });
});

test("every example of docs/api.md runs and gets the documented response", async () => {
  const printed = await paste("docs/api.md", "## Keys, limits, errors");
  expect(printed).toMatch(/^x-ratelimit-remaining: \d+/im);
  const documents = documentsIn(printed);
  const refused = documents.filter((document) => "detail" in document);
  expect(refused).toEqual([{ detail: "agent_name is required", errors: [expect.anything(), expect.anything()] }]);
  expect(documents).toContainEqual(expect.objectContaining({ prompt_name: "refunds", prompt_version: 2 }));
  expect(documents).toContainEqual(expect.objectContaining({ total_versions: 2 }));
  expect(documents).toContainEqual(
    expect.objectContaining({
      dynamic_variables: [
        expect.objectContaining({ variable_name: "company", required: false }),
        expect.objectContaining({ variable_name: "order_number", field_type: "NUMBER" }),
      ],
    }),
  );
  expect(documents).toContainEqual(expect.objectContaining({ status: "COMPLETED", message_count: 5 }));
  expect(documents).toContainEqual(expect.objectContaining({ pagination: expect.objectContaining({ total: 1 }) }));
  expect(documents).toContainEqual(expect.objectContaining({ versions_deleted: 3 }));
});

test("every example of docs/manage-api.md runs and gets the documented response", async () => {
  // A number has one owner, and another test on this stack may add the page's number to its own.
  const number = `1507${randomInt(1_000_000, 10_000_000)}`;
  const blocks = await examples("docs/manage-api.md", "## Signing in");
  const documents = documentsIn(run(blocks.map((block) => block.replaceAll("14155550123", number))));
  expect(documents.filter((document) => "detail" in document)).toEqual([
    { detail: "The session has ended. Sign in again." },
  ]);
  for (const shown of [
    { email: "dev@localhost.localdomain", tier: "pro" },
    { name: "CI", api_key: expect.stringMatching(/^vk_/) },
    { name: "CI", status: "inactive" },
    { name: "Production", secret: expect.stringMatching(/^whsec_/) },
    { old_secret_valid_until: expect.any(String) },
    { delivery_id: expect.stringMatching(/^dlv_/) },
    { deliveries: [expect.objectContaining({ is_test: true })], total: 1 },
    { resent: expect.any(Number) },
    { name: "Production", status: "disabled" },
    { mobile_number: `+${number}` },
    { voices: [expect.objectContaining({ id: "our-receptionist" })] },
    { retention_days: 30 },
    { total: expect.objectContaining({ conversations: 0 }) },
    { message: "Signed out" },
  ]) {
    expect(documents).toContainEqual(expect.objectContaining(shown));
  }
});
