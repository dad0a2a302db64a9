import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ModelCall, Script } from "@parley/testkit/scripted-model";
import {
  createAgent,
  failure,
  hear,
  inline,
  listen,
  say,
  session,
  startTestChat,
  type TestAgent,
  transcript,
  turn,
} from "./kit.ts";

const service = await startTestChat();
afterAll(() => service.stop());

beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

/** The turn's calls to the model get these answers, and further ones a plain one. */
function script(...answers: Script[]): { calls(): ModelCall[] } {
  const from = service.model.calls.length;
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("Hello there.")))(call);
  return { calls: () => service.model.calls.slice(from) };
}

const SETS_SPANISH: Script = (call) => call.callTool("set_language", '{"language":"es"}');
const SAYS =
  (text: string): Script =>
  (call) =>
    call.finish(text);

async function streamed(agent: TestAgent, message: string, sessionId?: string) {
  const heard = await hear(service.chat, turn(agent, message, { sessionId }));
  return { sessionId: heard.sessionId, response: heard.chunks.join(""), chunks: heard.chunks };
}
async function whole(agent: TestAgent, message: string, sessionId?: string) {
  const { response, sessionId: id } = await say(service, agent, message, sessionId);
  return { sessionId: id, response, chunks: [response] };
}
const WAYS: [string, typeof streamed][] = [
  ["streamed", streamed],
  ["whole", whole],
];

const statusOf = async (agent: TestAgent, sessionId: string) => (await session(service, agent, sessionId)).status;
const { CONVERSATION_STATUS_COMPLETED, CONVERSATION_STATUS_IN_PROGRESS } = ConversationStatus;

describe("the tools of an agent", () => {
  const tools = {
    end_call: { message: "So long!" },
    transfer_call: { transfer_phone_number: "+14155550123" },
    schedule_call: true,
    set_language: { languages: ["en", "es", "pt-BR"] },
    background_audio: { sound: "office", volume: 0.5 },
    user_idle: { timeout_seconds: 10, max_reminders: 1 },
  };

  test("are offered if they work in a chat; those that need a call, and disabled ones, are not", async () => {
    const { calls } = script();
    await say(service, await createAgent(service, { tools }), "Hi");
    await say(service, await createAgent(service, { tools: { end_call: false, set_language: true } }), "Hi");
    await say(
      service,
      await createAgent(service, { tools: { transfer_call: { transfer_phone_number: "+14155550123" } } }),
      "Hi",
    );
    expect(calls().map(({ asked }) => asked.tools)).toEqual([["end_call", "set_language"], ["set_language"], []]);
    const language = (call: ModelCall | undefined) =>
      call?.body.tools.at(-1).function.parameters.properties.language.enum;
    expect(language(calls()[0])).toEqual(["en", "es", "pt-BR"]);
    expect(language(calls()[1])).toBeUndefined();
  });

  test.each(WAYS)(
    "that need a call do nothing when called anyway: the model learns so and continues (%s)",
    async (_, take) => {
      const agent = await createAgent(service, { tools: { ...tools, end_call: false } });
      for (const name of ["transfer_call", "end_call", "toString", "no_such_tool"]) {
        const { calls } = script((call) => call.callTool(name, "{}"), SAYS("In words."));
        const { response, sessionId } = await take(agent, "Hi");
        expect(response).toBe("In words.");
        expect(calls()[1]?.asked.messages).toEqual([
          "user: Hi",
          `call: ${name} {}`,
          expect.stringContaining("There is no such tool. Answer the user in words."),
        ]);
        expect(await statusOf(agent, sessionId)).toBe(CONVERSATION_STATUS_IN_PROGRESS);
        expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "assistant: In words."]);
      }
    },
  );
});

describe("set_language", () => {
  test.each(WAYS)("is answered in the same turn and shown to the model in every later one (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { set_language: true }, prompt: inline("Be kind.") });
    const { calls } = script(SETS_SPANISH, SAYS("¡Hola! ¿Qué tal?"));
    const { response, sessionId } = await take(agent, "Spanish, please");
    expect(response).toBe("¡Hola! ¿Qué tal?");
    expect(calls()[1]?.asked.messages).toEqual([
      "user: Spanish, please",
      'call: set_language {"language":"es"}',
      "result: The conversation continues in Spanish (es). Answer the user in it now.",
    ]);
    await take(agent, "Gracias", sessionId);
    expect(calls().map(({ asked }) => asked.system)).toEqual([
      "Be kind.",
      "Be kind.",
      "Be kind.\n\nThe language of this conversation was set to Spanish (es). Answer in it until it is set again.",
    ]);
    expect(calls()[2]?.asked.messages).toEqual([
      "user: Spanish, please",
      'call: set_language {"language":"es"}',
      "result: The conversation continues in Spanish (es). Answer the user in it now.",
      "assistant: ¡Hola! ¿Qué tal?",
      "user: Gracias",
    ]);
    script((call) => call.callTool("set_language", '{"language":"PT-br"}'), SAYS("Olá."));
    await take(agent, "Português?", sessionId);
    const third = script();
    await take(agent, "Obrigado", sessionId);
    expect(third.calls()[0]?.asked.system).toContain("set to Brazilian Portuguese (pt-BR).");
  });

  test("with text around it passes on all of it, each chunk ending at a word", async () => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    for (const [, take] of WAYS) {
      const { calls } = script(
        (call) => call.callTool("set_language", '{"language":"es"}', "One moment."),
        SAYS("¡Hola! Bienvenido."),
      );
      const { response, chunks, sessionId } = await take(agent, "Spanish, please");
      expect(response).toBe("One moment. ¡Hola! Bienvenido.");
      for (const chunk of chunks.slice(0, -1)) expect(chunk).toMatch(/\s$/);
      expect(calls()[1]?.asked.messages[1]).toBe("assistant: One moment.");
      expect((await transcript(service, agent, sessionId))[1]).toBe(`assistant: ${response}`);
    }
  });

  test("passes on the text before it at once, without waiting for what follows", async () => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    const second = Promise.withResolvers<ModelCall>();
    script((call) => call.callTool("set_language", '{"language":"es"}', "One moment."), second.resolve);
    const heard = listen(service.chat, turn(agent));
    await heard.next();
    let text = "";
    while (text !== "One moment. ") text += (await heard.next()).value?.text;
    (await second.promise).finish("Hola.");
    expect((await heard.next()).value).toEqual({ text: "Hola." });
    expect((await heard.next()).done).toBe(true);
  });

  const refusals: [string, unknown, string, string][] = [
    ["no language", true, "{}", '"language" must be a BCP 47 tag'],
    ["a language in words", true, '{"language":"Spanish from Spain"}', '"language" must be a BCP 47 tag'],
    ["no JSON", true, '{"language":', '"language" must be a BCP 47 tag'],
    ["no object", true, '["es"]', '"language" must be a BCP 47 tag'],
    ["a language not offered", { languages: ["en", "de"] }, '{"language":"es"}', "Available languages: en, de."],
  ];
  test.each(refusals)("with %s is reported to the model and sets nothing", async (_, config, input, told) => {
    const agent = await createAgent(service, { tools: { set_language: config } });
    const { calls } = script((call) => call.callTool("set_language", input), SAYS("Sorry."));
    const { response, sessionId } = await say(service, agent, "Hi");
    expect(response).toBe("Sorry.");
    expect(calls()[1]?.asked.messages.at(-1)).toContain(told);
    await say(service, agent, "Well", sessionId);
    expect(calls()[2]?.asked.system).toBe("Be brief.");
  });

  test("holds even if the turn fails afterwards", async () => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    const { calls } = script(SETS_SPANISH, (call) => call.respond(400, "text/plain", ""));
    const { sessionId } = await failure(say(service, agent, "Spanish"));
    await say(service, agent, "Well?", sessionId);
    expect(calls().at(-1)?.asked.system).toContain("set to Spanish (es).");
  });
});

describe("end_call", () => {
  test.each(WAYS)(
    "together with set_language ends the session with its farewell and without another request (%s)",
    async (_, take) => {
      const agent = await createAgent(service, { tools: { end_call: { message: "So long!" }, set_language: true } });
      const { calls } = script((call) =>
        call.callTools([
          { name: "set_language", input: '{"language":"es"}' },
          { name: "end_call", input: '{"message":"¡Adiós!"}' },
        ]),
      );
      const { response, sessionId } = await take(agent, "Adiós");
      expect(response).toBe("¡Adiós!");
      expect(calls()).toHaveLength(1);
      expect(await statusOf(agent, sessionId)).toBe(CONVERSATION_STATUS_COMPLETED);
    },
  );

  test.each(WAYS)("after set_language, and with invalid JSON as arguments, ends the session (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { end_call: { message: "So long!" }, set_language: true } });
    script(SETS_SPANISH, (call) => call.callTool("end_call", "{oops"));
    const { response, sessionId } = await take(agent, "Adiós");
    expect(response).toBe("So long!");
    expect(await statusOf(agent, sessionId)).toBe(CONVERSATION_STATUS_COMPLETED);
  });

  test("before the text, as some models call it, takes effect after it", async () => {
    const agent = await createAgent(service, { tools: { end_call: true } });
    script((call) => {
      call.event({
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "end_call", arguments: "{}" } }],
            },
          },
        ],
      });
      call.finish("Good night.");
    });
    const { response, sessionId } = await streamed(agent, "Bye");
    expect(response).toBe("Good night.");
    expect(await statusOf(agent, sessionId)).toBe(CONVERSATION_STATUS_COMPLETED);
  });
});

describe("a model that has said something and called tools", () => {
  test.each(WAYS)("has said nothing if that was white space (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    script((call) => call.callTool("set_language", '{"language":"es"}', " \n"), SAYS(""));
    expect((await failure(take(agent, "Español"))).detail).toContain("gave an empty answer");
  });

  test.each(WAYS)("may say nothing more, and is not asked again for it (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    const { calls } = script((call) => call.callTool("set_language", '{"language":"es"}', "Claro."), SAYS(""));
    expect((await take(agent, "Español")).response.trim()).toBe("Claro.");
    expect(calls()).toHaveLength(2);
  });

  test.each(WAYS)("must say something if it has not yet (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    script(SETS_SPANISH, SAYS(""));
    expect((await failure(take(agent, "Español"))).detail).toContain("gave an empty answer");
  });
});

describe("a model that never stops calling tools", () => {
  test.each(WAYS)("is asked without tools after eight times, and must then answer (%s)", async (_, take) => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    const from = service.model.calls.length;
    service.model.script = (call) =>
      call.asked.tools.length > 0 ? call.callTool("set_language", '{"language":"es"}') : call.finish("Hola.");
    expect((await take(agent, "Hi")).response).toBe("Hola.");
    expect(service.model.calls.slice(from).map(({ asked }) => asked.tools.length)).toEqual([
      ...new Array(8).fill(1),
      0,
    ]);
    service.model.script = (call) => call.callTool("set_language", '{"language":"es"}', "\n");
    expect(await failure(take(agent, "Hi"))).toMatchObject({
      kind: "upstream_failed",
      detail: "The CUSTOM_LLM model called tools and said nothing",
    });
    expect(service.model.calls.length - from).toBe(18);
  });

  test("counts the tokens of all its answers", async () => {
    const agent = await createAgent(service, { tools: { set_language: true } });
    script(SETS_SPANISH, SAYS("Hola."));
    const { sessionId } = await say(service, agent, "Hi");
    const { usage } = await session(service, agent, sessionId);
    expect(usage).toMatchObject({ replies: 1, inputTokens: 22, outputTokens: 14 });
  });
});
