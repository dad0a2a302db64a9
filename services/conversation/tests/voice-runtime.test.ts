import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { ConversationStatus, ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { toStatus } from "@parley/shared/rpc/status";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { lines, read } from "./calls-kit.ts";
import { createAgent, startTestChat } from "./kit.ts";

const EXAMPLE = join(import.meta.dir, "../examples/voice-runtime.ts");
const PAGE = join(import.meta.dir, "../../../docs/voice-runtimes.md");

const service = await startTestChat();
const process = await startServiceProcess("conversation", service.env);
afterAll(async () => {
  await process.stop();
  await service.stop();
});

test("the example of docs/voice-runtimes.md runs, and its call is stored as the page says", async () => {
  const example = await Bun.file(EXAMPLE).text();
  expect(await Bun.file(PAGE).text()).toContain(`\`\`\`ts\n${example}\`\`\``);
  const agent = await createAgent(service);
  const env = {
    PARLEY_CONVERSATION_ADDRESS: process.address,
    PARLEY_OWNER_ID: agent.ownerId,
    AGENT_ID: agent.agentId,
    PATH: Bun.env.PATH ?? "",
  };
  const printed = await runExample(env);
  const [conversationId = "", status] = printed.trim().split(" ");
  expect(status).toBe("CONVERSATION_STATUS_COMPLETED");
  const key = { ownerId: agent.ownerId, conversationId };
  expect(await read(service.chat, key)).toMatchObject({
    type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
    status: ConversationStatus.CONVERSATION_STATUS_COMPLETED,
    fromMobileNumber: "+919876543210",
    durationSeconds: 21.5,
  });
  expect(await lines(service.chat, key)).toEqual([
    "assistant: Front desk, how can I help?",
    "user: When do you open?",
    "assistant: At nine.",
  ]);
  // A second run, as after a restart that came when everything was stored.
  expect(await runExample({ ...env, CONVERSATION_ID: conversationId })).toBe(printed);
  expect(await lines(service.chat, key)).toHaveLength(3);
});

test.each([
  "invalid",
  "not_found",
  "forbidden",
  "conflict",
  "condition",
  "unavailable",
  "deadline",
  "rate_limited",
  "upstream_failed",
  "upstream_timeout",
  "internal",
] satisfies ErrorKind[])(
  "docs/voice-runtimes.md says what a runtime does about an error of the kind %s",
  async (kind) => {
    const errors = (await Bun.file(PAGE).text()).split("## Errors")[1]?.split("\n## ")[0];
    const { code } = toStatus(new ServiceError(kind, "It failed"));
    expect(errors).toContain(`\n| \`${status[code]}\``);
  },
);

/** The output of the example. */
async function runExample(env: Record<string, string>): Promise<string> {
  const run = Bun.spawn([globalThis.process.execPath, EXAMPLE], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [printed, complaints] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  expect({ complaints, code: await run.exited }).toEqual({ complaints: "", code: 0 });
  return printed;
}
