import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress, type Egress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import type { Model, ModelEvent, ModelRequest } from "../src/model/port.ts";
import { type ProviderSettings, selectModel } from "../src/model/select.ts";
import { type ModelCall, type Script, type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

let server: ScriptedModel;
let egress: Egress;
const printed: string[] = [];

beforeAll(async () => {
  server = await startScriptedModel();
  egress = createEgress({ allow: parseAllowList("127.0.0.1"), maxResponseBytes: 1024 * 1024 });
  for (const level of ["log", "info", "warn", "error"] as const) {
    spyOn(console, level).mockImplementation((...words: unknown[]) => printed.push(words.join(" ")));
  }
});

afterAll(async () => {
  egress.close();
  await server.stop();
});

const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "assistant", content: "Hello!" },
    { role: "user", content: "Hi" },
  ],
  temperature: 0.123456789,
  tools: [{ name: "end_call", description: "Ends it.", inputSchema: { type: "object", properties: {} } }],
};

const credentials = (apiKey: string, baseURL: string) => {
  const credential = { apiKey, baseURL };
  return { openai: credential, anthropic: credential, google: credential, groq: credential, mistral: credential };
};

function settings(given: Partial<ProviderSettings> = {}, baseURL = server.baseUrl): ProviderSettings {
  return { credentials: credentials("sk-ours", baseURL), guardedFetch: egress.fetch, ...given };
}

function standard(providerName: string): LlmConfig {
  return { providerName, modelName: "gpt-4o", params: undefined, fallbacks: [] };
}

function custom(baseUrl = server.baseUrl): LlmConfig {
  const params = { baseUrl, apiKey: "sk-theirs", apiType: undefined, temperature: undefined };
  return { providerName: "CUSTOM_LLM", modelName: "gpt-4o", params, fallbacks: [] };
}

/** One of each package that speaks OpenAI's chat completions as OpenAI does. */
const PROVIDERS: [string, () => Model][] = [
  ["OPENAI", () => selectModel(standard("OPENAI"), settings())],
  ["CUSTOM_LLM", () => selectModel(custom(), settings())],
];

function streamed(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  return Array.fromAsync(model.stream(REQUEST, signal));
}

async function whole(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const { text, toolCalls, usage } = await model.complete(REQUEST, signal);
  return [
    { type: "text", text },
    ...toolCalls.map((call) => ({ type: "tool_call" as const, call })),
    { type: "finish", usage },
  ];
}

async function failure(answer: Promise<unknown>): Promise<{ kind: string; detail: string }> {
  const error = await answer.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`not a ServiceError: ${error}`);
  return { kind: error.kind, detail: error.detail };
}

function saying(text: string, then: (call: ModelCall) => unknown): Script {
  return (call) => {
    call.piece(text);
    then(call);
  };
}

describe.each(PROVIDERS)("a model of %s", (provider, select) => {
  let model: Model;
  beforeEach(() => {
    model = select();
    printed.length = 0;
  });

  afterEach(() => expect(printed).toEqual([]));

  test("is asked what the request says, with the key of its owner", async () => {
    for (const [ask, stream] of [
      [streamed, true],
      [whole, undefined],
    ] as const) {
      server.script = (call) => call.finish("Yes.");
      await ask(model);
      const { path, authorization, body } = server.calls.at(-1) ?? {};
      expect(path).toBe("/v1/chat/completions");
      expect(authorization).toBe(provider === "CUSTOM_LLM" ? "Bearer sk-theirs" : "Bearer sk-ours");
      expect(body).toMatchObject({ model: "gpt-4o", temperature: 0.123456789, ...(stream && { stream }) });
      expect(body.stream).toBe(stream);
      expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(["system", "assistant", "user"]);
      expect(JSON.stringify(body.messages[2])).toContain("Hi");
      expect(body.tools[0].function).toMatchObject({ name: "end_call", parameters: { type: "object" } });
    }
  });

  test("streams its text as it comes, without empty pieces, and says what it used", async () => {
    server.script = (call) => {
      call.event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] });
      for (const piece of ["Hel", "lo ", "\ud83d\ude00", " a\0b"]) call.piece(piece);
      call.finish();
    };
    expect(await streamed(model)).toEqual([
      { type: "text", text: "Hel" },
      { type: "text", text: "lo " },
      { type: "text", text: "😀" },
      { type: "text", text: " ab" },
      { type: "finish", usage: { inputTokens: 11, outputTokens: 7 } },
    ]);
  });

  test("answers whole with text, tool calls and usage", async () => {
    server.script = (call) => call.callTool("end_call", '{"message":"Bye"}', "So l\0ong.");
    expect(await whole(model)).toEqual([
      { type: "text", text: "So long." },
      { type: "tool_call", call: { name: "end_call", input: { message: "Bye" } } },
      { type: "finish", usage: { inputTokens: 11, outputTokens: 7 } },
    ]);
  });

  test("calls a tool in a stream; input that is no object is none", async () => {
    for (const [given, input] of [
      ['{"message":"Bye"}', { message: "Bye" }],
      ["{}", {}],
      ["[1]", {}],
    ] as const) {
      server.script = (call) => call.callTool("end_call", given);
      expect((await streamed(model))[0]).toEqual({ type: "tool_call", call: { name: "end_call", input } });
    }
  });

  test("that does not count its tokens has used an unknown number", async () => {
    server.script = (call) => {
      call.piece("Hi");
      call.event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      call.end();
    };
    expect((await streamed(model)).at(-1)).toEqual({
      type: "finish",
      usage: { inputTokens: undefined, outputTokens: undefined },
    });
  });

  const json = "application/json";
  const events = "text/event-stream";
  const faults: [string, string, Script][] = [
    ["refuses the key", "refused the API key", (call) => call.respond(401, json, '{"error":{"message":"secret"}}')],
    ["limits the rate", "is rate-limiting us", (call) => call.respond(429, "text/html", "secret")],
    ["answers 500", "answered with status 500", (call) => call.respond(500, json, '{"error":{"message":"secret"}}')],
    [
      "answers with a page",
      "gave an answer that cannot be read",
      (call) => call.respond(200, "text/html", "<p>secret"),
    ],
    ["answers other JSON", "gave an answer that cannot be read", (call) => call.respond(200, json, '{"a":1}')],
    ["breaks the connection", "is unreachable", (call) => call.reset()],
    ["breaks off", "cut its answer off", (call) => [call.begin(200, json, "{"), setTimeout(call.reset, 20)]],
  ];
  test.each(faults)("that %s fails as a provider that %s", async (_, what, script) => {
    server.script = script;
    for (const ask of [streamed, whole]) {
      const { kind, detail } = await failure(ask(model));
      expect(kind).toBe("upstream_failed");
      expect(detail).not.toContain("secret");
      expect(detail).toStartWith(`The ${provider} model provider ${what}`);
    }
  });

  const error = { error: { message: "secret", type: "server_error" } };
  const streamFaults: [string, string, Script][] = [
    ["says nothing", "gave an answer that cannot be read", (call) => call.respond(200, events, "")],
    ["ends early", "cut its answer off", saying("Hel", (call) => call.end())],
    ["is done without a reason", "cut its answer off", saying("Hel", (call) => call.finish("", null))],
    ["breaks off", "cut its answer off", saying("Hel", (call) => setTimeout(call.reset, 20))],
    ["turns to garbage", "gave an answer that cannot be read", saying("Hel", (call) => call.event("{oops"))],
    ["reports an error", "", (call) => void call.event(error)],
    ["reports an error midway", "", saying("Hel", (call) => call.event(error))],
  ];
  test.each(streamFaults)("whose stream %s fails as a provider that %s", async (_, what, script) => {
    server.script = script;
    const { kind, detail } = await failure(streamed(model));
    expect(kind).toBe("upstream_failed");
    expect(detail).toStartWith(`The ${provider} model provider ${what}`);
    expect(detail).not.toContain("secret");
  });

  test.each([
    ["before its head", () => {}],
    ["in the middle of its answer", (call) => void call.piece("Hel")],
  ] as [string, Script][])(
    "is let go of at once %s, and fails with the reason it was given up for",
    async (_, script) => {
      for (const ask of [streamed, whole]) {
        const called = Promise.withResolvers<{ left: Promise<void> }>();
        server.script = (call) => {
          script(call);
          called.resolve(call);
        };
        const giveUp = new AbortController();
        const answer = failure(ask(model, giveUp.signal));
        const { left } = await called.promise;
        giveUp.abort(new ServiceError("upstream_timeout", "Too late"));
        expect(await answer).toEqual({ kind: "upstream_timeout", detail: "Too late" });
        await left;
      }
    },
  );

  test("whose reader leaves in the middle is let go of at once", async () => {
    let left: Promise<void> | undefined;
    server.script = (call) => {
      left = call.left;
      call.piece("Hel");
    };
    for await (const event of model.stream(REQUEST, new AbortController().signal)) {
      expect(event).toEqual({ type: "text", text: "Hel" });
      break;
    }
    await left;
  });

  test("is read no further ahead than its reader reads", async () => {
    const total = 64 * 1024 * 1024;
    let sent = 0;
    server.script = async (call) => {
      const piece = "word ".repeat(3_000);
      let gone = false;
      call.left.then(() => {
        gone = true;
      });
      while (sent < total && !gone) {
        sent += piece.length;
        if (!call.piece(piece)) await call.drained();
      }
    };
    const stream = model.stream(REQUEST, new AbortController().signal)[Symbol.asyncIterator]();
    await stream.next();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await Bun.sleep(200);
    }
    await stream.return?.();
    expect(sent).toBeLessThan(total / 2);
  });
});

test("a whole answer that never ends is given up when it is too long", async () => {
  server.script = (call) => call.respond(200, "application/json", "x".repeat(2 * 1024 * 1024));
  const { detail } = await failure(whole(selectModel(custom(), settings())));
  expect(detail).toContain("is longer than 1048576 bytes");
});

test("an address that agents may not reach is not called", async () => {
  const guarded = createEgress({ allow: parseAllowList("") });
  const before = server.calls.length;
  const model = selectModel(custom(), settings({ guardedFetch: guarded.fetch }));
  for (const ask of [streamed, whole]) {
    expect((await failure(ask(model))).detail).toStartWith("The CUSTOM_LLM model provider was not called: ");
  }
  expect(server.calls.length).toBe(before);
});

test("nobody listening is a provider out of reach", async () => {
  const gone = await startScriptedModel();
  await gone.stop();
  for (const llm of [custom(gone.baseUrl), standard("OPENAI")]) {
    const model = selectModel(llm, settings({}, gone.baseUrl));
    for (const ask of [streamed, whole]) {
      expect(await failure(ask(model))).toEqual({
        kind: "upstream_failed",
        detail: `The ${llm.providerName} model provider is unreachable`,
      });
    }
  }
});

test.each(["OPENAI", "ANTHROPIC", "GOOGLE", "TOASTER", "constructor"])(
  "%s without a credential is not configured",
  (name) => {
    expect(() => selectModel(standard(name), settings({ credentials: credentials("", "") }))).toThrow(
      new ServiceError("condition", `LLM provider ${name} is not configured`),
    );
  },
);
