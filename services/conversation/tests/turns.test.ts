import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { StartChatRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Database } from "@parley/shared/db/database";
import { newId, newUuid } from "@parley/shared/ids";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { deleteConversations } from "../src/store/expired.ts";
import {
  createAgent,
  failure,
  hear,
  inline,
  say,
  session,
  startTestChat,
  type TestAgent,
  transcript,
  turn,
} from "./kit.ts";

interface Closing {
  ownerId: string;
  id: string;
}

const service = await startTestChat({ PARLEY_CHAT_CONTEXT_TOKENS: "200" });
afterAll(() => service.stop());

beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

/** The last request to the model. */
function asked(): ModelCall["body"] {
  return service.model.calls.at(-1)?.body;
}

function messagesAsked(): string[] {
  return asked().messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}

describe("a turn", () => {
  test.each([
    ["whole", (asked: ReturnType<typeof turn>) => service.chat.completeTurn({ turn: asked })],
    ["streamed", (asked: ReturnType<typeof turn>) => hear(service.chat, asked)],
  ])("that is %s has its user message stored before the model is called", async (_, take) => {
    const agent = await createAgent(service);
    let stored: object[] = [];
    service.model.script = async (call) => {
      stored = await service.sql<object[]>`select seq, role, content from messages where owner_id = ${agent.ownerId}`;
      call.finish("Yes.");
    };
    const { sessionId } = await take(turn(agent, "Are you there?"));
    expect([...stored]).toEqual([{ seq: 1, role: "user", content: "Are you there?" }]);
    expect(await transcript(service, agent, sessionId)).toEqual(["user: Are you there?", "assistant: Yes."]);
  });

  test.each([
    ["was deleted", (sql: Database, { ownerId, id }: Closing) => deleteConversations(sql, ownerId, [id])],
    [
      "ended",
      (sql: Database, { id }: Closing) => sql`update conversations set status = 'FAILED' where conversation_id = ${id}`,
    ],
    [
      "continued",
      (sql: Database, { id }: Closing) => sql`update conversations set turn_id = ${id} where conversation_id = ${id}`,
    ],
  ])("whose session %s before its reply could be stored says so", async (happened, close) => {
    const agent = await createAgent(service);
    service.model.script = async (call) => {
      const [row] = await service.sql<{ id: string }[]>`
        select conversation_id as id from conversations where owner_id = ${agent.ownerId}`;
      await close(service.sql, { ownerId: agent.ownerId, id: row?.id ?? "" });
      call.finish("Yes.");
    };
    expect(await failure(say(service, agent, "Hi"))).toMatchObject({
      kind: "conflict",
      detail: `The session ${happened} before this reply could be stored`,
    });
  });

  test("is answered in one piece, or in chunks that end at word boundaries, and the reply is stored as sent", async () => {
    const agent = await createAgent(service);
    const first = await say(service, agent, "Hi");
    expect(first.response).toBe("Hello there.");
    service.model.script = (call) => {
      for (const piece of ["Go", "od  mor", "ning,\n", "😀", " frie", "nd "]) call.piece(piece);
      call.finish();
    };
    const { sessionId, chunks } = await hear(service.chat, turn(agent, "And?", { sessionId: first.sessionId }));
    expect(sessionId).toBe(first.sessionId);
    expect(chunks.join("")).toBe("Good  morning,\n😀 friend ");
    for (const chunk of chunks) expect(chunk).toMatch(/\s$/);
    expect((await transcript(service, agent, sessionId)).at(-1)).toBe("assistant: Good  morning,\n😀 friend ");
  });

  test("gives the model the prompt, the earlier messages, the temperature, and the key of the agent's owner", async () => {
    const agent = await createAgent(service, { prompt: inline("You are {{name|Ada}}.") });
    const { sessionId } = await say(service, agent, "First");
    await say(service, agent, "Second", sessionId);
    expect(messagesAsked()).toEqual(["system: You are Ada.", "user: First", "assistant: Hello there.", "user: Second"]);
    expect(asked()).toMatchObject({ model: "scripted", temperature: 0.5 });
    expect(asked().tools).toBeUndefined();
    expect(service.model.calls.at(-1)?.authorization).toBe("Bearer sk-customer-0000");
  });

  test("without a prompt has no system message", async () => {
    await say(service, await createAgent(service, { prompt: undefined }), "Hi");
    expect(messagesAsked()).toEqual(["user: Hi"]);
  });

  test("shows the model the newest messages that fit, and always the prompt and the last", async () => {
    const agent = await createAgent(service, { prompt: inline("Rules.") });
    const { sessionId } = await say(service, agent, `first ${"x".repeat(400)}`);
    await say(service, agent, `second ${"y".repeat(400)}`, sessionId);
    const cut = ["system: Rules.", "user: (The conversation begins.)", "assistant: Hello there."];
    expect(messagesAsked()).toEqual([...cut, `user: second ${"y".repeat(400)}`]);
    await say(service, agent, "z".repeat(4_000), sessionId);
    expect(messagesAsked()).toEqual(["system: Rules.", `user: ${"z".repeat(4_000)}`]);
    await say(service, agent, "語".repeat(120), sessionId);
    expect(messagesAsked()).toEqual([...cut, `user: ${"語".repeat(120)}`]);
  });

  test("is stored with its model and usage, and the session adds them up", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await say(service, agent, "One");
    await hear(service.chat, turn(agent, "Two", { sessionId }));
    const rows = await service.sql`
      select seq, provider, model, prompt_name, prompt_version, input_tokens, output_tokens, partial, total_ms is not null as timed
      from messages where conversation_id = ${sessionId} order by seq`;
    const reply = {
      provider: "CUSTOM_LLM",
      model: "scripted",
      prompt_name: `agent-${agent.agentId}`,
      prompt_version: 1,
      input_tokens: 11,
      output_tokens: 7,
      partial: false,
      timed: true,
    };
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(rows[1]).toMatchObject(reply);
    expect(rows[3]).toMatchObject(reply);
    expect(rows[0]).toMatchObject({ provider: null, input_tokens: null, partial: false });
    const { usage } = await session(service, agent, sessionId);
    expect(usage).toMatchObject({ replies: 2, inputTokens: 22, outputTokens: 14 });
  });

  test("whose model says nothing fails, but its message is stored and the session continues", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish("");
    const whole = await failure(say(service, agent, "Hi"));
    expect(whole).toMatchObject({
      kind: "upstream_failed",
      detail: "The CUSTOM_LLM model provider gave an empty answer",
    });
    const sessionId = whole.sessionId ?? "";
    const streamed = await failure(hear(service.chat, turn(agent, "Hello?", { sessionId })));
    expect(streamed).toEqual(whole);
    service.model.script = (call) => call.finish("Here.");
    await say(service, agent, "Anybody?", sessionId);
    expect(await transcript(service, agent, sessionId)).toEqual([
      "user: Hi",
      "user: Hello?",
      "user: Anybody?",
      "assistant: Here.",
    ]);
  });
});

describe("variables", () => {
  test("come from the first message's metadata, and later messages add to them", async () => {
    const prompt = inline("{{Name}}, {{age: NUMBER}}, {{city|Rome}}, {{missing}}.");
    const agent = await createAgent(service, { prompt });
    const first = { dynamic_variables: { "NAME ": "Ada", age: 36 }, age: 40, city: ["no"], note: "kept" };
    const { sessionId } = await service.chat.completeTurn({ turn: turn(agent, "Hi", { metadata: first }) });
    expect(messagesAsked()[0]).toBe("system: Ada, 36, Rome, .");
    const later = { City: "Paris", dynamic_variables: { name: "{{age}}" } };
    await service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId, metadata: later }) });
    expect(messagesAsked()[0]).toBe("system: {{age}}, 36, Paris, .");
    await say(service, agent, "Hi", sessionId);
    expect(messagesAsked()[0]).toBe("system: {{age}}, 36, Paris, .");
    const { metadata } = await session(service, agent, sessionId);
    expect(metadata).toEqual({ ...first, ...later });
  });

  test("and other metadata of a session have a limit, above which a turn is refused and the session continues", async () => {
    const agent = await createAgent(service);
    const large = { first: "x".repeat(700_000) };
    const { sessionId } = await service.chat.completeTurn({ turn: turn(agent, "Hi", { metadata: large }) });
    const more = { second: "x".repeat(400_000) };
    const refused = await failure(
      service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId, metadata: more }) }),
    );
    expect(refused).toMatchObject({ kind: "invalid", detail: expect.stringMatching(/^metadata /), sessionId });
    await service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId, metadata: { first: "y", ...more } }) });
    expect((await session(service, agent, sessionId)).metadata).toEqual({ first: "y", ...more });
  });
});

describe("a prompt that its variables make too long", () => {
  const many = (length: number) => ({ dynamic_variables: { x: "x".repeat(length) } });
  const detail = (what: string, most: number) =>
    `The agent's ${what} is longer than ${most} characters once its dynamic variables are filled in: shorten their values`;

  test("is an error, the message is stored, and with shorter values the session continues", async () => {
    const agent = await createAgent(service, { prompt: inline("{{x}}".repeat(1_000)) });
    const whole = (asked: ReturnType<typeof turn>) => service.chat.completeTurn({ turn: asked });
    for (const take of [whole, (asked: ReturnType<typeof turn>) => hear(service.chat, asked)]) {
      const before = service.model.calls.length;
      const asked = turn(agent, "Hi", { metadata: many(1_001) });
      const { sessionId = "", ...failed } = await failure(take(asked));
      expect(failed).toEqual({ kind: "condition", detail: detail("prompt", 1_000_000) });
      expect(service.model.calls.length).toBe(before);
      await service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId, metadata: many(1_000) }) });
      expect(messagesAsked()[0]).toHaveLength("system: ".length + 1_000_000);
      expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "user: Hi", "assistant: Hello there."]);
    }
  });

  test("opens no session, even if it is only the greeting", async () => {
    const agent = await createAgent(service, { firstMessagePrompt: "{{x}}".repeat(1_000) });
    expect(await failure(service.chat.startChat({ ...agent, metadata: many(101) }))).toMatchObject({
      kind: "condition",
      detail: detail("first_message_prompt", 100_000),
    });
    const { firstMessage } = await service.chat.startChat({ ...agent, metadata: many(100) });
    expect(firstMessage).toHaveLength(100_000);
    const { sessions } = await service.chat.listChatSessions({ ...agent, page: undefined });
    expect(sessions).toHaveLength(1);
  });
});

describe("a session", () => {
  test("that starts with the greeting has it as its first message, with default variables", async () => {
    const agent = await createAgent(service, { firstMessagePrompt: "Hello {{name|you}}, {{missing}}!" });
    const { sessionId, firstMessage } = await service.chat.startChat({ ...agent, metadata: undefined });
    expect(firstMessage).toBe("Hello you, !");
    expect(await transcript(service, agent, sessionId)).toEqual(["assistant: Hello you, !"]);
    await say(service, agent, "Hi", sessionId);
    expect(messagesAsked().slice(2)).toEqual(["assistant: Hello you, !", "user: Hi"]);
    const { usage, messageCount } = await session(service, agent, sessionId);
    expect(messageCount).toBe(3);
    expect(usage?.replies).toBe(1);
  });

  test("of an agent without a greeting begins empty", async () => {
    const agent = await createAgent(service);
    const started = await service.chat.startChat({ ...agent, metadata: { name: "Ada" } });
    expect(started.firstMessage).toBe("");
    const { messages, metadata, status } = await session(service, agent, started.sessionId);
    expect(messages).toEqual([]);
    expect(metadata).toEqual({ name: "Ada" });
    expect(status).toBe(ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS);
  });

  test("is named New chat until the user writes, then after the first message with text", async () => {
    const agent = await createAgent(service);
    const nameOf = async () => {
      const { sessions } = await service.chat.listChatSessions({ ...agent, page: undefined });
      return sessions[0]?.conversationName;
    };
    const { sessionId } = await service.chat.startChat({ ...agent, metadata: undefined });
    expect(await nameOf()).toBe("New chat");
    await say(service, agent, "I would like\nto book", sessionId);
    await say(service, agent, "Thanks", sessionId);
    expect(await nameOf()).toBe("I would like to book");
    await say(service, agent, " \n ");
    expect(await nameOf()).toBe("New chat");
  });

  test("is found by its id in any letter case, and returns the original one", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await say(service, agent, "Hi");
    const again = await say(service, agent, "Again", sessionId.toUpperCase());
    expect(again.sessionId).toBe(sessionId);
    expect(await transcript(service, agent, sessionId.toUpperCase())).toHaveLength(4);
  });
});

describe("end_call", () => {
  const tools = { end_call: { message: "So long!" } };

  const farewells: [string, string, string, Record<string, unknown>, string][] = [
    ["the reply's own words", "Bye now.", '{"message":"x"}', tools, "Bye now."],
    ["the call's message", "", '{"message":"See you."}', tools, "See you."],
    ["the configured message", "", "{}", tools, "So long!"],
    ["a plain goodbye", "", '{"message":""}', { end_call: true }, "Goodbye!"],
  ];
  test.each(farewells)("ends the session after %s", async (_, text, input, given, farewell) => {
    const agent = await createAgent(service, { tools: given });
    service.model.script = (call) => call.callTool("end_call", input, text);
    const whole = await say(service, agent, "Bye");
    expect(whole.response).toBe(farewell);
    const streamed = await hear(service.chat, turn(agent, "Bye"));
    expect(streamed.chunks.join("")).toBe(farewell);
    for (const { sessionId } of [whole, streamed]) {
      const { status, messages } = await session(service, agent, sessionId);
      expect(status).toBe(ConversationStatus.CONVERSATION_STATUS_COMPLETED);
      expect(messages.at(-1)?.content).toBe(farewell);
      expect(await failure(say(service, agent, "Wait", sessionId))).toEqual({
        kind: "condition",
        detail: "Session has ended",
        sessionId,
      });
      expect(await transcript(service, agent, sessionId)).toHaveLength(2);
    }
  });
});

describe("a turn that cannot be", () => {
  test("is refused before anything is stored, with the specific reason", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await say(service, agent, "Hi");
    const other = await createAgent(service, {}, agent.ownerId);
    const stranger = await createAgent(service);
    const mute = await createAgent(service, { llm: undefined });
    const { llm } = await service.agents.listProviders({ ownerId: agent.ownerId });
    const groq = llm.find(({ providerName }) => providerName === "GROQ");
    const unconfigured = await createAgent(service, {
      llm: { providerName: "GROQ", modelName: groq?.modelNames[0] ?? "", params: undefined, fallbacks: [] },
    });
    const voice = newUuid();
    await service.sql`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      values (${agent.ownerId}, ${voice}, 'cnv_x', ${agent.agentId}, 'TELEPHONY', 'IN_PROGRESS', now(), now(), now())`;
    const before = service.model.calls.length;
    const refusals: [ReturnType<typeof turn>, string, string, string?][] = [
      [turn(mute), "condition", "Agent has no LLM configuration: set llm"],
      [turn(unconfigured), "condition", "LLM provider GROQ is not configured: the operator has to set GROQ_API_KEY"],
      [turn({ ...agent, agentId: newId("agt") }), "not_found", "Agent not found"],
      [turn({ ...agent, agentId: "\0" }), "not_found", "Agent not found"],
      [turn({ ...agent, ownerId: stranger.ownerId }), "forbidden", "You do not have access to this agent"],
      [turn(agent, "Hi", { sessionId: newUuid() }), "not_found", "Session not found"],
      [turn(stranger, "Hi", { sessionId }), "forbidden", "You do not have access to this session"],
      [turn(other, "Hi", { sessionId }), "condition", "session_id belongs to a session of another agent", sessionId],
      [turn(agent, "Hi", { sessionId: voice }), "condition", "Session is not a chat session", voice],
      [
        turn(agent, "Hi", { sessionId: "x" }),
        "invalid",
        "session_id must be a UUID, as a chat reply or first-message gave it",
      ],
    ];
    for (const [asked, kind, detail, session] of refusals) {
      const refusal = { kind, detail, sessionId: session };
      expect(await failure(service.chat.completeTurn({ turn: asked }))).toEqual(refusal);
      expect(await failure(hear(service.chat, asked))).toEqual(refusal);
    }
    expect(await failure(service.chat.completeTurn({ turn: undefined }))).toMatchObject({ kind: "invalid" });
    expect(service.model.calls.length).toBe(before);
    const [{ count } = { count: "" }] = await service.sql`
      select count(*) from messages where owner_id in (${agent.ownerId}, ${stranger.ownerId})`;
    expect(count).toBe("2");
  });
});

test("a turn of an agent without a model, or one that is deleted, is refused with its session", async () => {
  const agent = await createAgent(service);
  await service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...agent, clear: ["llm"] }));
  const { sessionId } = await service.chat.startChat(StartChatRequest.fromPartial(agent));
  const asked = turn(agent, "And?", { sessionId });
  const refused = () => failure(service.chat.completeTurn({ turn: asked }));
  expect(await refused()).toEqual({ kind: "condition", detail: "Agent has no LLM configuration: set llm", sessionId });
  await service.agents.deleteAgent({ ...agent, idempotency: undefined });
  expect(await refused()).toEqual({ kind: "not_found", detail: "Agent not found", sessionId });
});

describe("concurrent turns", () => {
  test("in one session: exactly one is accepted, and the others are told to wait and not stored", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await say(service, agent, "Hi");
    const conflict = {
      kind: "conflict",
      detail: "A reply is in progress in this session. Wait for it to end.",
      sessionId,
    };
    for (let round = 0; round < 5; round++) {
      const answer = Promise.withResolvers<void>();
      service.model.script = async (call) => {
        await answer.promise;
        call.finish(`Round ${round}.`);
      };
      let refused = 0;
      const outcomes = Array.from({ length: 10 }, async (_, at) => {
        const asked = turn(agent, `${round}.${at}`, { sessionId });
        const outcome = await (at % 2 ? hear(service.chat, asked) : service.chat.completeTurn({ turn: asked })).then(
          () => "answered",
          (error) => failure(Promise.reject(error)),
        );
        if (outcome !== "answered") refused++;
        if (refused === 9) answer.resolve();
        return outcome;
      });
      const settled = await Promise.all(outcomes);
      expect(settled.filter((outcome) => outcome === "answered")).toHaveLength(1);
      expect(settled.filter((outcome) => outcome !== "answered")).toEqual(new Array(9).fill(conflict));
    }
    const seqs = await service.sql`select seq, role from messages where conversation_id = ${sessionId} order by seq`;
    expect(seqs.map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    expect((await session(service, agent, sessionId)).messageCount).toBe(12);
  });

  test("in sixty sessions all succeed, and none mixes in another's messages", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish(`To ${call.body.messages.at(-1).content}`);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => say(service, agent, `${at}`)));
    expect(answers.map(({ response }) => response)).toEqual(answers.map((_, at) => `To ${at}`));
    expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(60);
  });

  test.each([
    ["whole", (agent: TestAgent) => say(service, agent, "First")],
    ["streamed", (agent: TestAgent) => hear(service.chat, turn(agent, "First"))],
  ])(
    "a turn presumed dead can be taken over; its late reply, %s, changes nothing and is not reported as stored",
    async (_, take) => {
      const agent = await createAgent(service);
      const calls: ModelCall[] = [];
      service.model.script = (call) => {
        calls.push(call);
      };
      const late = failure(take(agent));
      const sessionId = await until(async () => {
        const [row] = await service.sql`select conversation_id from conversations where owner_id = ${agent.ownerId}`;
        return row?.conversation_id as string | undefined;
      });
      expect(await failure(say(service, agent, "Second", sessionId))).toMatchObject({ kind: "conflict" });
      service.clock.advance(15_001);
      const second = say(service, agent, "Second", sessionId);
      const taken = await until(() => calls[1]);
      calls[0]?.finish("Too late.");
      expect(await late).toMatchObject({ kind: "conflict", sessionId });
      expect(await transcript(service, agent, sessionId)).toEqual(["user: First", "user: Second"]);
      expect(await failure(say(service, agent, "Third", sessionId))).toMatchObject({ kind: "conflict" });
      taken.finish("In time.");
      await second;
      expect(await transcript(service, agent, sessionId)).toEqual([
        "user: First",
        "user: Second",
        "assistant: In time.",
      ]);
    },
  );
});

/** Waits for the effect of another task. */
async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await Bun.sleep(5);
  }
}
