import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  GetCallSetupResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { type Handlers, serve } from "@parley/shared/rpc/server";
import { obtain } from "@parley/testkit/programs/obtain";
import { startScriptedModel } from "@parley/testkit/scripted-model";
import { Glob } from "bun";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const ROOT = join(import.meta.dir, "../..");
const EXAMPLES = join(ROOT, "services/conversation/examples");
const PAGE = join(ROOT, "docs/voice-runtimes.md");

const python = await obtain("pythonWithGrpc");
const protoc = await obtain("protoc");
const plugin = await obtain("grpcPythonPlugin");
await obtain("googleProtos");
const stubs = await mkdtemp(join(tmpdir(), "parley-stubs-"));
const folders = ["proto/parley/*/v1", "proto/grpc/*/v1", "proto/google/rpc"];
const protos = folders.flatMap((folder) => [...new Glob(`${folder}/*.proto`).scanSync(ROOT)]);
const out = [`--python_out=${stubs}`, `--grpc_out=${stubs}`, `--plugin=protoc-gen-grpc=${plugin}`];
const made = Bun.spawnSync([protoc, "-I", "proto/grpc", "-I", "proto", ...out, ...protos], { cwd: ROOT });
if (!made.success) throw new Error(`protoc: ${made.stderr}`);
const stack = await sharedStack();
afterAll(async () => {
  await stack.stop();
  if (stubs) await rm(stubs, { recursive: true, force: true });
});

/** The output of an example of docs/voice-runtimes.md. */
async function run(example: string, env: Record<string, string> = {}): Promise<string> {
  const text = await Bun.file(join(EXAMPLES, example)).text();
  expect(await Bun.file(PAGE).text()).toContain(`\`\`\`python\n${text}\`\`\``);
  const child = Bun.spawn([python, join(EXAMPLES, example)], {
    env: { PYTHONPATH: stubs, PARLEY_CONVERSATION_ADDRESS: stack.address("conversation"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ complaints, code: await child.exited }).toEqual({ complaints: "", code: 0 });
  return printed;
}

test("the guide's Python runtime starts a call, reports its transcript, and ends it", async () => {
  const [{ ownerId, apiKey }] = stack.owners;
  const api = stack.api(apiKey);
  const { body: agent } = await api.post("/agents", {
    agent_name: "Front desk",
    agent_type: "INBOUND",
    first_message_prompt: "Hello {{customer_name}}!",
    tts: { provider_name: "OPENAI", model_name: "tts-1", voice_id: "alloy" },
  });
  const env = { PARLEY_OWNER_ID: ownerId, AGENT_ID: agent.id };
  const printed = (await run("voice_runtime.py", env)).trim().split("\n");
  expect(printed.slice(0, 3)).toEqual([
    "stt null",
    'tts {"modelName": "tts-1", "providerName": "OPENAI", "voiceId": "alloy"}',
    "sts null",
  ]);
  const [conversationId = "", status] = printed.at(-1)?.split(" ") ?? [];
  expect(status).toBe("CONVERSATION_STATUS_COMPLETED");
  const stored = async () => (await api.get(`/conversations/${conversationId}`)).body;
  const said = [
    { role: "assistant", content: "Hello Ada!", timestamp: expect.any(String) },
    { role: "user", content: "When do you open?", timestamp: expect.any(String) },
  ];
  expect(await stored()).toMatchObject({
    conversation_type: "TELEPHONY",
    conversation_status: "COMPLETED",
    conversation_transcript: said,
    duration: 21.5,
  });
  // A second run, as after a restart that came when everything was stored.
  expect((await run("voice_runtime.py", { ...env, CONVERSATION_ID: conversationId })).trim().split("\n")).toEqual(
    printed,
  );
  expect((await stored()).conversation_transcript).toEqual(said);
});

test("the guide's Python runtime sends again what the service was unreachable for, or took too long for", async () => {
  const failures = new Map<string, ("unavailable" | "deadline")[]>();
  const calls: string[] = [];
  /** Answers the third call of each name. */
  const answer = <T>(name: string, response: T): T => {
    calls.push(name);
    const left = failures.get(name) ?? ["unavailable", "deadline"];
    failures.set(name, left);
    const kind = left.shift();
    if (kind) throw new ServiceError(kind, "Try again");
    return response;
  };
  const handlers: Partial<Handlers<typeof ConversationServiceService>> = {
    getCallSetup: async () => answer("setup", GetCallSetupResponse.fromPartial({})),
    startConversation: async () => answer("start", { conversation: undefined, lastSequence: 2 }),
    completeConversation: async () => answer("complete", { status: ConversationStatus.CONVERSATION_STATUS_COMPLETED }),
  };
  const service = await serve(ConversationServiceService, handlers as Handlers<typeof ConversationServiceService>, {
    address: "127.0.0.1:0",
    log: silentLogger,
  });
  try {
    const env = { PARLEY_CONVERSATION_ADDRESS: service.address, PARLEY_OWNER_ID: "own_1", AGENT_ID: "agt_1" };
    expect(await run("voice_runtime.py", env)).toContain("CONVERSATION_STATUS_COMPLETED");
    expect(calls).toEqual(["setup", "start", "complete"].flatMap((name) => [name, name, name]));
  } finally {
    await service.stop();
  }
});

test("the guide's Python call has the agent's model reply, and only what was heard is stored", async () => {
  const [{ ownerId, apiKey }] = stack.owners;
  const api = stack.api(apiKey);
  const model = await startScriptedModel();
  model.script = (call) =>
    call.asked.messages.length === 5 ? call.callTool("end_call", "{}", "Goodbye!") : call.finish("We open at nine.");
  try {
    const agentId = await createAgent(api, { baseUrl: model.baseUrl }, { tools: { end_call: true } });
    const printed = await run("spoken_turns.py", { PARLEY_OWNER_ID: ownerId, AGENT_ID: agentId });
    const [first, second, ...rest] = printed.trim().split("\n");
    expect([first, second]).toEqual(["agent: We open at nine.", "agent: We"]);
    expect(rest.slice(0, -1).toSorted()).toEqual(["action end_call", "agent: Goodbye!"]);
    const [conversationId, status] = rest.at(-1)?.split(" ") ?? [];
    expect(status).toBe("CONVERSATION_STATUS_COMPLETED");
    const { body } = await api.get(`/conversations/${conversationId}`);
    expect(body.conversation_type).toBe("WEB");
    expect(body.conversation_transcript.map(({ content }: { content: string }) => content)).toEqual([
      "When do you open?",
      "We open at nine.",
      "And on Sunday?",
      "We",
      "Goodbye!",
      "Goodbye!",
    ]);
  } finally {
    await model.stop();
  }
});

test("the guide's Python lines query the service's health and reflection", async () => {
  expect(await run("inspect_service.py")).toBe("SERVING\nparley.conversation.v1.ConversationService\n");
});
