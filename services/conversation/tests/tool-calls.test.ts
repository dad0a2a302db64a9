import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Message, ToolCallState } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { RunCallToolRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { Script } from "@parley/testkit/scripted-model";
import { append, type CallKey, callOf, refusal, said } from "./calls-kit.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { createAgent, failure, hear, listen, say, startTestChat, turn } from "./kit.ts";

const SPANISH = '{"language":"es"}';
const GOES_ON = "The conversation continues in Spanish (es). Answer the user in it now.";
const NO_TOOL = "There is no such tool. Answer the user in words.";

const KEPT = {
  ...{ toolCallId: expect.stringMatching(/^tcl_/), isCut: false, durationMs: expect.any(Number), attempts: 1 },
  ...{ httpStatus: undefined, note: undefined },
};
const SUCCEEDED = { state: ToolCallState.TOOL_CALL_STATE_SUCCEEDED, isError: false };
const FAILED = { state: ToolCallState.TOOL_CALL_STATE_FAILED, isError: true };

const service = await startTestChat({ PARLEY_REPLY_CHECKPOINT_MS: "10" });
const agent = await createAgent(service, {
  tools: { set_language: true, end_call: true, transfer_call: { transfer_phone_number: "+14155550199" } },
});
afterAll(() => service.stop());
beforeEach(() => script());

/** The model gives these answers, then plain ones. */
function script(...answers: Script[]): void {
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("Hola.")))(call);
}

/** The tool calls stored with each message, oldest first. */
async function calls(conversationId: string, { ownerId } = agent) {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId, withToolCalls: true });
  return conversation?.transcript?.messages.map(({ toolCalls }) => toolCalls) ?? [];
}

const named = async (conversationId: string) =>
  (await calls(conversationId)).map((each) => each.map(({ name, offset }) => `${name} ${offset}`));

/** The bytes of everything stored of a conversation's tool calls. */
async function keptBytes(conversationId: string): Promise<number> {
  const [row] = await service.sql<[{ bytes: number }]>`
    select sum(bytes)::integer as bytes from tool_calls where conversation_id = ${conversationId}`;
  return row.bytes;
}

describe("a chat's reply", () => {
  test("keeps its tool calls with arguments, result and times, in order and in place, for those who ask", async () => {
    script(
      (call) =>
        call.callTools(
          [
            { name: "set_language", input: SPANISH },
            { name: "no_such_tool", input: "not json" },
          ],
          "Un momento 🙂",
        ),
      (call) => call.callTool("set_language", ""),
    );
    const { sessionId } = await hear(service.chat, turn(agent));
    const [question, reply] = await calls(sessionId);
    expect(question).toEqual([]);
    const kept = { ...KEPT, startedMs: expect.any(Number) };
    const inOffset = { ...kept, offset: "Un momento  ".length };
    expect(reply).toEqual([
      { ...inOffset, name: "set_language", arguments: SPANISH, result: GOES_ON, ...SUCCEEDED },
      { ...inOffset, name: "no_such_tool", arguments: "not json", result: NO_TOOL, ...FAILED },
      {
        ...kept,
        offset: "Un momento   ".length,
        name: "set_language",
        arguments: "{}",
        result: '"language" must be a BCP 47 tag such as es or pt-BR.',
        ...FAILED,
      },
    ]);
    const { session } = await service.chat.getChatSession({ ownerId: agent.ownerId, sessionId, withToolCalls: true });
    expect(session?.messages[1]?.toolCalls).toEqual(reply ?? []);
    const unasked = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId: sessionId });
    expect(unasked.conversation?.transcript?.messages.flatMap(({ toolCalls }) => toolCalls)).toEqual([]);
  });

  test("that never came leaves its calls after the user's message, also when the session continues", async () => {
    const { sessionId } = await say(service, agent, "Hi");
    const silent: Script = (call) => call.callTool("set_language", SPANISH);
    script(...new Array(9).fill(silent));
    expect((await failure(say(service, agent, "Español", sessionId))).detail).toContain("said nothing");
    const eight = new Array(8).fill("set_language 7");
    expect(await named(sessionId)).toEqual([[], [], eight]);
    script((call) => call.callTool("end_call", "{}"));
    await say(service, agent, "Bye", sessionId);
    expect(await named(sessionId)).toEqual([[], [], eight, [], ["end_call 0"]]);
  });

  test("shows its calls while it is still made", async () => {
    const rest = Promise.withResolvers<void>();
    script(
      (call) => call.callTool("set_language", SPANISH),
      async (call) => {
        call.piece("Un momento, ");
        await rest.promise;
        call.finish("por favor.");
      },
    );
    const events = listen(service.chat, turn(agent));
    const { value } = await events.next();
    const sessionId = value && "sessionId" in value ? (value.sessionId ?? "") : "";
    await eventually(async () => expect(await named(sessionId)).toEqual([[], ["set_language 0"]]));
    rest.resolve();
    for await (const _ of events);
    expect(await named(sessionId)).toEqual([[], ["set_language 0"]]);
  });

  test("keeps a bounded part of what a model calls, cut in whole characters and marked", async () => {
    const input = (length: number) => JSON.stringify({ language: `\0\ud83d${"🙂".repeat(length)}` });
    // Together they have less than 64 Ki characters, more of which cannot be read, but more than 64 KiB.
    const others = Array.from({ length: 39 }, () => ({ name: "x", input: input(650) }));
    const many = [{ name: "é".repeat(500), input: input(5_000) }, ...others];
    script((call) => call.callTools(many));
    const { sessionId } = await say(service, agent, "Hi");
    const [, reply = []] = await calls(sessionId);
    expect(reply).toHaveLength(32);
    expect(reply.every(({ result }) => result === NO_TOOL || result === "")).toBeTrue();
    expect([reply[0]?.isCut, reply[1]?.isCut]).toEqual([true, false]);
    expect(reply[1]?.arguments).toBe(input(650));
    expect(reply[0]?.name).toBe("é".repeat(64));
    expect(reply[0]?.arguments).toMatch(/^\{"language":"\\u0000\\ud83d(🙂)+$/u);
    expect(Buffer.byteLength(reply[0]?.arguments ?? "")).toBeWithin(4_093, 4_097);
    // The first calls keep their texts, and the rest keep their names.
    expect(reply.at(-1)).toMatchObject({ name: "x", arguments: "", result: "", isCut: true });
    expect(await keptBytes(sessionId)).toBeLessThan(80 * 1024);
  });
});

describe("a spoken turn", () => {
  let call: CallKey;
  beforeEach(async () => {
    call = await startWebCall(service.chat, agent);
  });

  test("keeps its calls with what was heard of the reply, or with the question when nothing was", async () => {
    script((asked) => asked.callTool("set_language", SPANISH, "One moment."));
    const interrupted = speakTurn(service.chat, call, 1, "Español");
    await interrupted.reply();
    interrupted.heard("One");
    await interrupted.stored();
    script((asked) => asked.callTool("set_language", SPANISH));
    const unheard = speakTurn(service.chat, call, 3, "Perdón");
    await unheard.reply();
    unheard.heard("");
    await unheard.stored();
    expect(await named(call.conversationId)).toEqual([[], ["set_language 3"], ["set_language 6"]]);
  });

  test("that is repeated because its stream broke keeps its earlier calls too, of which the model is told", async () => {
    script((asked) => asked.callTool("set_language", SPANISH, "Hola."));
    const broken = speakTurn(service.chat, call, 1);
    await broken.reply();
    broken.hear("Ho");
    await eventually(async () => expect(await named(call.conversationId)).toEqual([[], ["set_language 2"]]));
    broken.leave();
    script((asked) => asked.callTool("end_call", "{}", "Adiós."));
    const again = speakTurn(service.chat, call, 1);
    await again.reply();
    again.heard("Adiós.");
    await again.stored();
    expect(await named(call.conversationId)).toEqual([[], ["set_language 5", "end_call 6"]]);
    const asked = service.model.calls.at(-1)?.asked.messages;
    expect(asked).toEqual(["user: When do you open?", `call: set_language ${SPANISH}`, `result: ${GOES_ON}`]);
  });
});

describe("a call whose runtime asks the model itself", () => {
  let call: CallKey;
  beforeEach(async () => {
    call = await startWebCall(service.chat, agent);
  });
  const run = (name: string, given: Partial<RunCallToolRequest> = {}) =>
    service.chat.runCallTool({ ...call, name, arguments: {}, ...given });

  test("shows a tool call where its runtime says, though the question is told later", async () => {
    await run("set_language", { arguments: { language: "es" }, sequence: 2, offset: 4 });
    await run("no_such_tool", { sequence: 2, offset: 4 });
    expect(await calls(call.conversationId)).toEqual([]);
    await append(service.chat, [said(call, 1, "Español, por favor"), said(call, 2, "Hola. ¿Qué tal?")]);
    const kept = { ...KEPT, startedMs: undefined, offset: 4 };
    expect(await calls(call.conversationId)).toEqual([
      [],
      [
        { ...kept, name: "set_language", arguments: SPANISH, result: GOES_ON, ...SUCCEEDED },
        { ...kept, name: "no_such_tool", arguments: "{}", result: NO_TOOL, ...FAILED },
      ],
    ]);
    // The agent says nothing more.
    await run("end_call");
    expect(await named(call.conversationId)).toEqual([[], ["set_language 4", "no_such_tool 4", "end_call 15"]]);
  });

  test("refuses arguments with too many values by their name", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`name_${at}`, at]));
    await expect(run("end_call", { arguments: many })).rejects.toMatchObject({
      kind: "invalid",
      message: "arguments must not have more than 10000 values",
    });
  });

  test("keeps a bounded part of the calls of one reply", async () => {
    await append(service.chat, [said(call, 1)]);
    const language = "🙂".repeat(3_000);
    await Promise.all(Array.from({ length: 40 }, () => run("set_language", { arguments: { language } })));
    const [[first, ...further] = []] = await calls(call.conversationId);
    expect(first).toMatchObject({ isCut: true, isError: true, arguments: expect.stringMatching(/🙂/u) });
    expect(further).toHaveLength(31);
    expect(further.at(-1)).toMatchObject({ name: "set_language", isCut: true, arguments: "", result: "" });
    expect(await keptBytes(call.conversationId)).toBeLessThan(80 * 1024);
  });

  test("is refused a place that cannot be, by the name of its field", async () => {
    expect(await refusal(run("end_call", { sequence: 0 }))).toMatchObject({ kind: "invalid" });
    expect(await refusal(run("end_call", { sequence: 101 }))).toMatchObject({
      detail: expect.stringMatching(/^sequence must be/),
    });
    expect(await refusal(run("end_call", { offset: -1 }))).toMatchObject({
      detail: expect.stringMatching(/^offset must be/),
    });
    expect(await named(call.conversationId)).toEqual([]);
  });

  test("tells the latency of what the agent said, which is stored with it", async () => {
    const [question, answer] = [said(call, 1), said(call, 2)].map((request) => ({
      ...request,
      message: Message.fromPartial({ ...request.message, latency: { firstAudioMs: 310, audibleMs: 340 } }),
    }));
    await append(
      service.chat,
      [question, answer].filter((request) => request !== undefined),
    );
    const { conversation } = await service.chat.getConversation(call);
    expect(conversation?.transcript?.messages.map(({ latency }) => latency)).toMatchObject([
      undefined,
      { firstAudioMs: 310, audibleMs: 340, endOfTurnMs: undefined },
    ]);
    const wrong = {
      ...said(call, 4),
      message: Message.fromPartial({ role: 2, content: "x", latency: { audibleMs: -1 } }),
    };
    expect(await refusal(append(service.chat, [said(call, 3), wrong]))).toMatchObject({
      kind: "invalid",
      detail: expect.stringMatching(/^message.latency must have milliseconds/),
      lastSequence: "3",
    });
  });
});

test("tool calls are those of their owner's conversation, whose id another owner may use too", async () => {
  const call = await startWebCall(service.chat, agent);
  const other = await createAgent(service, {}, newOwner());
  const theirs = { ...call, ownerId: other.ownerId };
  await service.chat.startConversation(callOf(other, { conversationId: call.conversationId }));
  for (const key of [call, theirs]) await append(service.chat, [said(key, 1)]);
  await service.chat.runCallTool({ ...call, name: "end_call", arguments: {} });
  expect(await calls(call.conversationId, other)).toEqual([[]]);
  expect(await named(call.conversationId)).toEqual([["end_call 9"]]);
});
