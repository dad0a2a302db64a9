import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { recordLog } from "@parley/testkit/recorded-log";
import type { Model, ModelReply, ModelRequest } from "../src/model/port.ts";
import { selectModel } from "../src/model/select.ts";
import { custom, failure, type settings as Settings, settings, standard } from "./provider-kit.ts";

const NEVER = new AbortController().signal;
const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ name: "end_call", description: "Ends it.", inputSchema: { type: "object", properties: {} } }],
};
const SCHEMA = {
  type: "object",
  properties: { mood: { type: "string" } },
  required: ["mood"],
  additionalProperties: false,
};
const JUDGING: ModelRequest = { ...REQUEST, tools: [], answer: { name: "analysis", schema: SCHEMA } };

const HELLO = 'data: {"choices":[{"delta":{"content":"Hello there."},"finish_reason":"stop"}]}\n\n';
const DONE = "data: [DONE]\n\n";

/** What the server was asked for, and how it answers. */
// biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
const bodies: any[] = [];
// biome-ignore lint/suspicious/noExplicitAny: as above
let answer: (body: any, response: ServerResponse, request: IncomingMessage) => unknown;
let connections = 0;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const body = JSON.parse(text);
  bodies.push(body);
  answer(body, response, request);
});
server.on("connection", () => connections++);

let known: ReturnType<typeof Settings>;

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const egress = createEgress({ allow: parseAllowList("127.0.0.1") });
afterAll(async () => {
  egress.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  known = settings(address, egress);
  answer = (_, response) => response.end(HELLO + DONE);
});
afterEach(() => {
  bodies.length = 0;
});

function modelOf(llm: LlmConfig = custom(address), ownerId = "own_1"): Model {
  return selectModel(ownerId, llm, known, silentLogger);
}

async function streamed(model: Model, request = REQUEST): Promise<ModelReply> {
  let text = "";
  const end = await model.stream(request, NEVER, (heard) => {
    text += heard;
    return null;
  });
  return { ...end, text };
}

function refuse(response: ServerResponse, body: unknown, status = 400): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

describe("a server that refuses what it does not know", () => {
  test.each([400, 422])("with %d is asked for a stream without its usage, and not again with it", async (status) => {
    answer = ({ stream_options }, response) => {
      if (stream_options)
        refuse(response, { detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs" }] }, status);
      else response.end(HELLO + DONE);
    };
    for (let turn = 0; turn < 3; turn++) expect((await streamed(modelOf())).text).toBe("Hello there.");
    const asks = () => bodies.splice(0).map(({ stream_options }) => stream_options !== undefined);
    expect(asks()).toEqual([true, false, false, false]);
    // It is the server that was learned of, whichever of its models is asked.
    await streamed(modelOf({ ...custom(address), modelName: "other" }));
    expect(asks()).toEqual([false]);
    // Another owner's knowledge is its own.
    await streamed(modelOf(custom(address), "own_2"));
    expect(asks()).toEqual([true, false]);
  });

  test.each(["System role not supported", "Conversation roles must alternate user/assistant/user/assistant/..."])(
    "as its template does that says %p gets the prompt with the user's first message",
    async (message) => {
      answer = ({ messages }, response) => {
        if (messages[0].role === "system") refuse(response, { object: "error", message });
        else response.end(HELLO + DONE);
      };
      for (let turn = 0; turn < 2; turn++) expect((await streamed(modelOf())).text).toBe("Hello there.");
      expect(bodies.splice(0).map(({ messages }) => messages[0])).toEqual([
        { role: "system", content: "Be brief." },
        ...new Array(2).fill({ role: "user", content: "Be brief.\n\nHi" }),
      ]);
      await streamed(modelOf(), { ...REQUEST, messages: [{ role: "assistant", content: "Hello!" }] });
      expect(bodies[0].messages).toMatchObject([
        { role: "user", content: "Be brief.\n\n(The conversation begins.)" },
        { role: "assistant" },
      ]);
    },
  );

  test("for another reason is asked with the usage again, and failure and log say the reason", async () => {
    answer = (_, response) => refuse(response, { error: { message: "This model does not support tools" } });
    const detail = "The CUSTOM_LLM model provider answered with status 400: This model does not support tools";
    const { log, lines } = recordLog();
    for (let turn = 0; turn < 2; turn++) {
      const model = selectModel("own_1", custom(address), known, log);
      expect((await failure(streamed(model))).detail).toBe(detail);
    }
    expect(lines).toMatchObject(new Array(2).fill({ msg: "model failed", detail }));
    expect(bodies.map(({ stream_options }) => stream_options !== undefined)).toEqual([true, false, true, false]);
  });

  const OK = { choices: [{ message: { content: '{"mood":"calm"}' } }] };
  test.each<[string, () => LlmConfig, (body: Record<string, never>) => unknown, object]>([
    ["CUSTOM_LLM", () => custom(address), ({ response_format }) => response_format, OK],
    ["OPENAI", () => standard("OPENAI"), ({ response_format }) => response_format, OK],
    ["GROQ", () => standard("GROQ"), ({ response_format }) => response_format, OK],
    ["MISTRAL", () => standard("MISTRAL"), ({ response_format }) => response_format, OK],
    [
      "CUSTOM_LLM (RESPONSES)",
      () => custom(address, "RESPONSES"),
      ({ text }) => text,
      { output: [{ type: "message", content: [{ type: "output_text", text: '{"mood":"calm"}' }] }] },
    ],
    [
      "ANTHROPIC",
      () => standard("ANTHROPIC"),
      ({ output_config, output_format }) => output_config ?? output_format,
      { type: "message", content: [{ type: "text", text: '{"mood":"calm"}' }] },
    ],
    [
      "GOOGLE",
      () => standard("GOOGLE"),
      ({ generationConfig }) => (generationConfig as Record<string, unknown> | undefined)?.responseMimeType,
      { candidates: [{ content: { parts: [{ text: '{"mood":"calm"}' }] } }] },
    ],
  ])("is asked once without the schema of a JSON answer (%s)", async (_, llm, formOf, ok) => {
    answer = (body, response) => {
      if (formOf(body)) refuse(response, { error: { message: "json_schema is not supported" } });
      else response.end(JSON.stringify(ok));
    };
    expect((await modelOf(llm()).complete(JUDGING, NEVER)).text).toBe('{"mood":"calm"}');
    expect(bodies.map((body) => formOf(body) !== undefined)).toEqual([true, false]);
  });

  test("names no key in its reason, which is cut to 500 characters", async () => {
    const said = "Wrong key sk-theirs, Bearer abcdef1234, api_key=abcdef1234, ab***yz, AIzaSyA1234567890. ";
    answer = (_, response) => refuse(response, { error: { message: said + "x".repeat(600) } }, 401);
    const { detail } = await failure(streamed(modelOf()));
    const reason = detail.replace("The CUSTOM_LLM model provider refused the API key: ", "");
    expect(reason).toStartWith("Wrong key ****, Bearer ****, api_key=****, ****, ****. xxx");
    expect(reason).toHaveLength(500);
  });

  test("and never ends its reason is left with what it has said", async () => {
    answer = (_, response) => response.writeHead(400).write("No such model");
    expect((await failure(streamed(modelOf()))).detail).toEndWith("answered with status 400: No such model");
  });
});

describe("the end of a stream", () => {
  test("is its end mark, even if the server leaves the connection open", async () => {
    const left = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.on("close", left.resolve);
      response.write(HELLO + DONE);
    };
    expect(await streamed(modelOf())).toMatchObject({ text: "Hello there.", partialReason: null });
    await left.promise;
  });

  test("is its reason, even if the server sends nothing more", async () => {
    const left = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.on("close", left.resolve);
      response.write(HELLO);
    };
    expect(await streamed(modelOf())).toMatchObject({ text: "Hello there.", partialReason: null });
    await left.promise;
  });

  test("leaves the connection for the next question, if the server ends the answer", async () => {
    const ask = async () => {
      const ended = Promise.withResolvers<void>();
      answer = (_, response) => {
        response.write(HELLO + DONE);
        rest = () => response.end(ended.resolve);
      };
      let rest = () => {};
      await streamed(modelOf());
      rest();
      await ended.promise;
    };
    await ask();
    // The end of the body arrives on its own, once the answer is known.
    await eventually(async () => {
      const before = connections;
      await ask();
      expect(connections).toBe(before);
    });
  });

  test("may be a broken connection once the reason is known", async () => {
    answer = (_, response) => {
      response.write(HELLO);
      // A reset discards what has not been read.
      answer = () => {};
    };
    const reading = modelOf().stream(REQUEST, NEVER, () => {
      server.closeAllConnections();
      return null;
    });
    expect(await reading).toMatchObject({ partialReason: null });
  });
});

describe("a question", () => {
  test.each(["CUSTOM_LLM", "OPENAI", "ANTHROPIC", "GOOGLE"])(
    "to %s has roles that alternate, whoever spoke twice",
    async (name) => {
      const messages: ModelRequest["messages"] = [
        { role: "user", content: "Hi" },
        { role: "user", content: "Anybody?" },
        { role: "assistant", content: "Yes." },
        { role: "assistant", content: "Are you there?" },
        { role: "user", content: "When do you open?" },
      ];
      const llm = name === "CUSTOM_LLM" ? custom(address) : standard(name);
      await failure(streamed(modelOf(llm), { ...REQUEST, system: "", messages })).catch(() => {});
      const asked = bodies[0].messages ?? bodies[0].contents;
      expect(asked.map(({ role }: { role: string }) => role.replace("model", "assistant"))).toEqual([
        ...["user", "assistant", "user"],
      ]);
      expect(JSON.stringify(asked[0])).toContain(JSON.stringify("Hi\n\nAnybody?"));
      expect(JSON.stringify(asked[1])).toContain(JSON.stringify("Yes.\n\nAre you there?"));
    },
  );
});

describe("a whole answer", () => {
  test("has no thoughts, also if their beginning was part of the prompt", async () => {
    const content = 'Secret: {"mood":"?"}\n</think>\n\n{"mood":"calm"}';
    answer = (_, response) => response.end(JSON.stringify({ choices: [{ message: { content } }] }));
    expect((await modelOf().complete(JUDGING, NEVER)).text).toBe('{"mood":"calm"}');
  });

  test("may come in the arguments of the tool that stands for its schema", async () => {
    const content = [{ type: "tool_use", id: "toolu_1", name: "json", input: { mood: "calm" } }];
    answer = (_, response) => response.end(JSON.stringify({ type: "message", content, stop_reason: "tool_use" }));
    const reply = await modelOf(standard("ANTHROPIC")).complete(JUDGING, NEVER);
    expect(reply).toMatchObject({ text: '{"mood":"calm"}', toolCalls: [] });
  });
});
