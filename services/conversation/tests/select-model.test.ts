import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { startScriptedModel } from "@parley/testkit/scripted-model";
import { boundedFetch } from "../src/model/bounded-fetch.ts";
import type { Model, ModelReply, ModelRequest } from "../src/model/port.ts";
import { selectModel } from "../src/model/select.ts";
import { credentials, custom, failure, settings, standard } from "./provider-kit.ts";

const REQUEST: ModelRequest = { system: "", messages: [{ role: "user", content: "Hi" }], tools: [] };
const NEVER = new AbortController().signal;
const ANSWER_MAX_BYTES = 128 * 1024 * 1024;

const egress = createEgress({ allow: parseAllowList("127.0.0.1"), maxResponseBytes: ANSWER_MAX_BYTES });
const [server, other] = await Promise.all([startScriptedModel(), startScriptedModel()]);

afterAll(async () => {
  egress.close();
  await Promise.all([server.stop(), other.stop()]);
});

beforeEach(() => {
  server.script = (call) => call.finish("Hello there.");
  other.script = (call) => call.finish("Here instead.");
});

const streamed = async (model: Model): Promise<ModelReply> => {
  let text = "";
  const end = await model.stream(REQUEST, NEVER, (heard) => {
    text += heard;
    return null;
  });
  return { ...end, text };
};
const whole = (model: Model) => model.complete(REQUEST, NEVER);

test("an address that agents may not reach is never called", async () => {
  const guarded = createEgress({ allow: parseAllowList("") });
  const before = server.calls.length;
  const model = selectModel("own_1", custom(server.baseUrl), settings(server.baseUrl, guarded), silentLogger);
  for (const ask of [streamed, whole]) {
    expect((await failure(ask(model))).detail).toStartWith("The CUSTOM_LLM model provider was not called: ");
  }
  expect(server.calls.length).toBe(before);
});

test.each(["http://127.0.0.1:1/v1", "http://nowhere.invalid/v1"])(
  "%s is reported as an unreachable provider",
  async (url) => {
    const model = selectModel("own_1", standard("OPENAI"), settings(url, egress), silentLogger);
    for (const ask of [streamed, whole]) {
      const { kind, detail } = await failure(ask(model));
      expect(kind).toBe("upstream_failed");
      expect(detail).toMatch(
        /^The OPENAI model provider (is unreachable|cannot be used: nowhere\.invalid could not be contacted)$/,
      );
    }
  },
);

test("an answer of a user's own model that would take long to parse cannot be read, in either protocol", async () => {
  const values = `[${"0,".repeat(200_000)}0]`;
  const answers = { stream: `data: {"type":"response.created","x":${values}}\n\n`, json: `{"output":${values}}` };
  using slow = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { stream } = (await request.json()) as { stream?: boolean };
      const type = stream ? "text/event-stream" : "application/json";
      return new Response(stream ? answers.stream : answers.json, { headers: { "Content-Type": type } });
    },
  });
  for (const apiType of ["CHAT_COMPLETION", "RESPONSES"]) {
    const llm = custom(`http://127.0.0.1:${slow.port}/v1`, apiType);
    for (const ask of [streamed, whole]) {
      const { detail } = await failure(ask(selectModel("own_1", llm, settings("", egress), silentLogger)));
      expect(detail).toBe("The CUSTOM_LLM model provider gave an answer that cannot be read");
    }
  }
});

test.each([
  ["OPENAI", ": the operator has to set OPENAI_API_KEY"],
  ["OPENAI_RESPONSES", ": the operator has to set OPENAI_API_KEY"],
  ["ANTHROPIC", ": the operator has to set ANTHROPIC_API_KEY"],
  ["TOASTER", ""],
  ["constructor", ""],
])(
  "%s without a credential is not configured, and the error names the variable of a known provider",
  (name, remedy) => {
    expect(() =>
      selectModel("own_1", standard(name), settings("", egress, { credentials: credentials("", "") }), silentLogger),
    ).toThrow(new ServiceError("condition", `LLM provider ${name} is not configured${remedy}`));
  },
);

test.each([
  ["OPENAI", () => standard("OPENAI")],
  ["CUSTOM_LLM", () => custom(server.baseUrl)],
] as [string, () => LlmConfig][])("a model of %s is not read far ahead of its reader", async (_, llm) => {
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
  const standardFetch = boundedFetch(ANSWER_MAX_BYTES);
  const model = selectModel("own_1", llm(), settings(server.baseUrl, egress, { standardFetch }), silentLogger);
  const leaving = new AbortController();
  const begun = Promise.withResolvers<void>();
  const reading = model.stream(REQUEST, leaving.signal, () => {
    begun.resolve();
    return Promise.withResolvers<void>().promise;
  });
  reading.catch(() => {});
  await begun.promise;
  let before = -1;
  while (before !== sent) {
    before = sent;
    await Bun.sleep(200);
  }
  leaving.abort();
  expect(sent).toBeLessThan(total / 2);
});

describe("a model with fallbacks", () => {
  const withFallback = (main: LlmConfig) => ({ ...main, fallbacks: [custom(other.baseUrl, undefined, 0.25)] });

  test("falls back to the next model with its key and parameters, and the answer names it", async () => {
    server.script = (call) => call.respond(500, "text/plain", "");
    const model = selectModel(
      "own_1",
      withFallback(standard("OPENAI")),
      settings(server.baseUrl, egress),
      silentLogger,
    );
    const before = server.calls.length;
    const by = { provider: "CUSTOM_LLM", name: model.name };
    expect(await whole(model)).toMatchObject({ text: "Here instead.", by });
    expect(await streamed(model)).toMatchObject({ text: "Here instead.", by });
    expect(server.calls.length - before).toBe(6);
    expect(other.calls.at(-1)?.asked).toMatchObject({ key: "sk-theirs", temperature: 0.25 });
  });

  test("is a usable one, even if only a fallback; with none, the error names the first", async () => {
    const none = { credentials: credentials("", "") };
    const model = selectModel("own_1", withFallback(standard("OPENAI")), settings("", egress, none), silentLogger);
    expect((await whole(model)).text).toBe("Here instead.");
    const unusable = { ...standard("GROQ"), fallbacks: [standard("OPENAI")] };
    expect(() => selectModel("own_1", unusable, settings("", egress, none), silentLogger)).toThrow(
      "LLM provider GROQ is not configured: the operator has to set GROQ_API_KEY",
    );
  });

  test("is left for the next one while the secret that is its key cannot be had; with none, the error names the secret", async () => {
    const { params, ...model } = custom(server.baseUrl);
    const main = { ...model, params: { ...params, apiKey: undefined, keySecret: "gone" } };
    const before = server.calls.length;
    const select = (llm: LlmConfig) => selectModel("own_1", llm, settings("", egress), silentLogger);
    expect((await whole(select(withFallback(main)))).text).toBe("Here instead.");
    expect(server.calls.length).toBe(before);
    expect(() => select(main)).toThrow(
      "The agent's llm.params.api_key cannot be used: the secret gone does not exist, or is not printable ASCII without spaces",
    );
  });
});
