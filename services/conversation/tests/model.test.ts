import { afterAll, afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { type ModelCall, type Script, type ScriptedModel, startScriptedModel } from "@parley/testkit/scripted-model";
import { anthropic } from "@parley/testkit/stand-ins/dialects/anthropic";
import { chatCompletions, groqChat, mistralChat } from "@parley/testkit/stand-ins/dialects/chat-completions";
import { type Dialect, INPUT_TOKENS, OUTPUT_TOKENS } from "@parley/testkit/stand-ins/dialects/dialect";
import { google } from "@parley/testkit/stand-ins/dialects/google";
import { responses } from "@parley/testkit/stand-ins/dialects/responses";
import { boundedFetch } from "../src/model/bounded-fetch.ts";
import type { Model, ModelEnd, ModelRequest, TokenUsage, ToolCall } from "../src/model/port.ts";
import { selectModel } from "../src/model/select.ts";
import { ANSWER_MAX_BYTES, custom, failure, MODEL, settings, standard } from "./provider-kit.ts";

const servers = new Map<Dialect, ScriptedModel>();
const printed: string[] = [];

for (const dialect of [chatCompletions, groqChat, mistralChat, responses, anthropic, google]) {
  servers.set(dialect, await startScriptedModel(dialect));
}
const egress = createEgress({ allow: parseAllowList("127.0.0.1"), maxResponseBytes: ANSWER_MAX_BYTES });
for (const level of ["log", "info", "warn", "error"] as const) {
  spyOn(console, level).mockImplementation((...words: unknown[]) => printed.push(words.join(" ")));
}

afterAll(async () => {
  mock.restore();
  egress.close();
  for (const server of servers.values()) await server.stop();
});

/** Called when the head of an answer has been read. */
let headRead = () => {};
const readHead = <T>(answer: T): T => {
  headRead();
  return answer;
};
const bounded = boundedFetch(ANSWER_MAX_BYTES);
const watched = {
  guarded: { ...egress, ask: async (...asked: Parameters<typeof egress.ask>) => readHead(await egress.ask(...asked)) },
  standardFetch: Object.assign(async (...asked: Parameters<typeof fetch>) => readHead(await bounded(...asked)), {
    preconnect: fetch.preconnect,
  }),
};

const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ name: "end_call", description: "Ends it.", inputSchema: { type: "object", properties: {} } }],
};

type MakeModel = (baseUrl: string, temperature?: number) => Model;

const selected =
  (llmOf: (baseUrl: string, temperature?: number) => LlmConfig): MakeModel =>
  (baseUrl, temperature) =>
    selectModel("own_1", llmOf(baseUrl, temperature), settings(baseUrl, egress, watched), silentLogger);
const selectedStandard = (name: string) => selected((_, temperature) => standard(name, temperature));
const selectedCustom = (apiType: string) => selected((baseUrl, temperature) => custom(baseUrl, apiType, temperature));
const PROVIDERS: [string, Dialect, MakeModel][] = [
  ["OPENAI", chatCompletions, selectedStandard("OPENAI")],
  ["OPENAI_RESPONSES", responses, selectedStandard("OPENAI_RESPONSES")],
  ["ANTHROPIC", anthropic, selectedStandard("ANTHROPIC")],
  ["GOOGLE", google, selectedStandard("GOOGLE")],
  ["GROQ", groqChat, selectedStandard("GROQ")],
  ["MISTRAL", mistralChat, selectedStandard("MISTRAL")],
  ["CUSTOM_LLM", chatCompletions, selectedCustom("CHAT_COMPLETION")],
  ["CUSTOM_LLM (RESPONSES)", responses, selectedCustom("RESPONSES")],
];

/** An answer, part by part. */
type Said =
  | { type: "text"; text: string }
  | { type: "tool_call"; call: ToolCall }
  | { type: "finish"; usage: TokenUsage };

async function streamed(model: Model, request = REQUEST, signal = new AbortController().signal): Promise<Said[]> {
  const said: Said[] = [];
  const end = await model.stream(request, signal, (text, by) => {
    expect(by).toEqual({ provider: model.provider, name: model.name });
    said.push({ type: "text", text });
    return null;
  });
  return [...said, ...endOf(model, end)];
}

async function whole(model: Model, request = REQUEST, signal = new AbortController().signal): Promise<Said[]> {
  const { text, ...end } = await model.complete(request, signal);
  return [...(text === "" ? [] : [{ type: "text", text } as const]), ...endOf(model, end)];
}

function endOf({ provider, name }: Model, { by, toolCalls, usage }: ModelEnd): Said[] {
  expect(by).toEqual({ provider, name });
  return [
    ...toolCalls.map((call) => ({ type: "tool_call", call }) as const),
    { type: "finish", usage: countsOf(usage) },
  ];
}

const WAYS: [string, typeof streamed][] = [
  ["streamed", streamed],
  ["whole", whole],
];

/** Breaks the connection once the caller has read the head, because a reset discards what has not been read. */
function breakingOff(begin: (call: ModelCall) => unknown): Script {
  return (call) => {
    headRead = call.reset;
    begin(call);
  };
}

/** The counts that every provider reports. */
function countsOf({ inputTokens, outputTokens }: TokenUsage): TokenUsage {
  return { inputTokens, outputTokens };
}

const FINISH = { type: "finish" as const, usage: { inputTokens: INPUT_TOKENS, outputTokens: OUTPUT_TOKENS } };

describe.each(PROVIDERS)("a model of %s", (name, dialect, make) => {
  let server: ScriptedModel;
  let model: Model;
  let provider: string;
  beforeEach(() => {
    server = servers.get(dialect) as ScriptedModel;
    model = make(server.baseUrl);
    provider = model.provider;
    printed.length = 0;
    headRead = () => {};
  });

  afterEach(() => expect(printed).toEqual([]));

  test.each(WAYS)("gets the request with its owner's key (%s)", async (way, ask) => {
    server.script = (call) => call.finish("Yes.");
    await ask(make(server.baseUrl, 0.125));
    expect(server.calls.at(-1)?.asked).toEqual({
      key: name.startsWith("CUSTOM") ? "sk-theirs" : "sk-ours",
      model: MODEL,
      isStream: way === "streamed",
      temperature: 0.125,
      system: "Be brief.",
      messages: ["user: Hi"],
      tools: ["end_call"],
      schema: undefined,
    });
  });

  test("gets its own tool calls with their results, and the earlier messages", async () => {
    server.script = (call) => call.finish("Yes.");
    const toolCalls = [
      { name: "set_language", input: { language: "es" }, result: "It is Spanish now.", isError: false },
      { name: "oops", input: null, result: "No such tool.", isError: true },
    ];
    const messages: ModelRequest["messages"] = [
      { role: "user", content: "Spanish?" },
      { role: "assistant", content: "Sure. ", toolCalls },
      { role: "assistant", content: "", toolCalls: toolCalls.slice(0, 1) },
    ];
    await streamed(model, { ...REQUEST, messages, system: "" });
    const { asked } = server.calls.at(-1) as ModelCall;
    expect(asked.system).toBe("");
    expect(asked.messages.map((line) => line.trim())).toEqual([
      "user: Spanish?",
      "assistant: Sure.",
      'call: set_language {"language":"es"}',
      "call: oops {}",
      "result: It is Spanish now.",
      // Some providers wrap this in a form of their own.
      expect.stringContaining("No such tool."),
      'call: set_language {"language":"es"}',
      "result: It is Spanish now.",
    ]);
  });

  test("accepts a conversation that the assistant started", async () => {
    server.script = (call) => call.finish("Yes.");
    const messages: ModelRequest["messages"] = [
      { role: "assistant", content: "Hello!" },
      { role: "user", content: "Hi" },
    ];
    await streamed(model, { ...REQUEST, messages });
    const { asked } = server.calls.at(-1) as ModelCall;
    expect(asked.messages.slice(-2)).toEqual(["assistant: Hello!", "user: Hi"]);
    // These providers refuse a first message that is not the user's, and so do the templates of many models.
    if (/^(ANTHROPIC|GOOGLE|CUSTOM)/.test(name)) expect(asked.messages[0]).toStartWith("user: ");
    else expect(asked.messages).toHaveLength(2);
  });

  test("must follow a schema when a JSON answer is requested", async () => {
    server.script = (call) => call.finish('{"mood":"good"}');
    const schema = {
      type: "object",
      properties: { mood: { type: "string" } },
      required: ["mood"],
      additionalProperties: false,
    };
    const request = { ...REQUEST, tools: [], answer: { name: "analysis", schema } };
    expect((await whole(model, request))[0]).toEqual({ type: "text", text: '{"mood":"good"}' });
    expect(server.calls.at(-1)?.asked.schema).toMatchObject({ properties: { mood: { type: "string" } } });
  });

  test("streams its text as it arrives, without empty pieces, and reports its usage", async () => {
    server.script = (call) => {
      for (const piece of ["", "Hel", "lo "]) call.piece(piece);
    };
    let text = "";
    const { usage } = await model.stream(REQUEST, new AbortController().signal, (heard) => {
      expect(heard).not.toBe("");
      text += heard;
      // The server sends the rest only after this has arrived.
      if (text === "Hello ") {
        for (const piece of ["\ud83d\ude00", " a\0b", "\0"]) server.calls.at(-1)?.piece(piece);
        server.calls.at(-1)?.finish();
      }
      return null;
    });
    expect(text).toBe("Hello 😀 ab");
    expect(countsOf(usage)).toEqual(FINISH.usage);
  });

  test("passes on text that arrived together in one piece", async () => {
    const words = Array.from({ length: 100 }, (_, at) => `${at} `);
    server.script = (call) => {
      for (const word of words) call.piece(word);
      call.finish();
    };
    const said = await streamed(model);
    expect(said.map((event) => (event.type === "text" ? event.text : "")).join("")).toBe(words.join(""));
    expect(said.length).toBeLessThan(50);
  });

  const JSON_TYPE = "application/json";
  const faults: [string, string, Script][] = [
    [
      "refuses the key",
      "refused the API key",
      (call) => call.respond(401, JSON_TYPE, '{"error":{"message":"secret","code":401,"status":"x"}}'),
    ],
    ["limits the rate", "is rate-limiting us", (call) => call.respond(429, "text/html", "secret")],
    ["answers 400", "answered with status 400", (call) => call.respond(400, JSON_TYPE, "secret")],
    [
      "answers 500",
      "answered with status 500",
      (call) => call.respond(500, JSON_TYPE, '{"error":{"message":"secret"}}'),
    ],
    ["answers 503 with a page", "answered with status 503", (call) => call.respond(503, "text/html", "<p>secret")],
    [
      "answers with a page",
      "gave an answer that cannot be read",
      (call) => call.respond(200, "text/html", "<p>secret"),
    ],
    ["answers other JSON", "gave an answer that cannot be read", (call) => call.respond(200, JSON_TYPE, "[1]")],
    ["breaks the connection", "is unreachable", (call) => call.reset()],
    ["breaks off", "cut off its answer", breakingOff((call) => call.begin(200, JSON_TYPE, "{"))],
    [
      "never ends",
      "",
      async (call) => {
        call.begin(200, JSON_TYPE, "{");
        let gone = false;
        call.left.then(() => {
          gone = true;
        });
        // Neither an event nor a complete document, so nothing can be passed on before the end.
        while (!gone) if (!call.more("x".repeat(64 * 1024))) await call.drained();
        return undefined;
      },
    ],
  ];
  test.each(faults.flatMap(([fault, what, script]) => WAYS.map(([way, ask]) => ({ way, ask, fault, what, script }))))(
    "that $fault fails a $way answer, and the error says so in our words",
    async ({ ask, what, script }) => {
      server.script = script;
      const { kind, detail } = await failure(ask(model));
      expect(kind).toBe("upstream_failed");
      expect(detail).not.toContain("<p>");
      expect(detail).toStartWith(`The ${provider} model provider ${what}`);
    },
  );

  test("whose stream breaks off fails, and the error says so in our words", async () => {
    server.script = breakingOff((call) => call.piece("Hel"));
    const detail = `The ${provider} model provider cut off its answer`;
    expect(await failure(streamed(model))).toEqual({ kind: "upstream_failed", detail });
  });

  test.each(WAYS)("that starts slowly gets the remaining time and no more (%s)", async (_, ask) => {
    server.script = (call) => setTimeout(() => call.finish("Late."), 50);
    expect((await ask(model, { ...REQUEST, firstWordMs: 5_000 }))[0]).toEqual({ type: "text", text: "Late." });
    const called = Promise.withResolvers<ModelCall>();
    server.script = called.resolve;
    expect(await failure(ask(model, { ...REQUEST, firstWordMs: 500 }))).toEqual({
      kind: "upstream_timeout",
      detail: `The ${provider} model provider did not answer in time`,
    });
    await (await called.promise).left;
  });

  test.each(
    WAYS.flatMap(([way, ask]) => [
      { way, ask, when: "before its head", script: () => {} },
      { way, ask, when: "in the middle", script: (call: ModelCall) => void call.piece("Hel") },
    ]),
  )("whose $way answer is aborted $when ends at once and fails with the abort reason", async ({ ask, script }) => {
    const called = Promise.withResolvers<ModelCall>();
    server.script = (call) => {
      script(call);
      called.resolve(call);
    };
    const giveUp = new AbortController();
    const answer = failure(ask(model, REQUEST, giveUp.signal));
    const { left } = await called.promise;
    giveUp.abort(new ServiceError("upstream_timeout", "Too late"));
    expect(await answer).toEqual({ kind: "upstream_timeout", detail: "Too late" });
    await left;
  });

  test("whose answer exceeds the limit is aborted there", async () => {
    server.script = async (call) => {
      let gone = false;
      call.left.then(() => {
        gone = true;
      });
      while (!gone) if (!call.piece("word ".repeat(3_000))) await call.drained();
    };
    const { kind, detail } = await failure(streamed(model));
    expect(kind).toBe("upstream_failed");
    expect(detail).toContain(`is longer than ${ANSWER_MAX_BYTES} bytes`);
  });
});
