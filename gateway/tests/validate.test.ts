import { describe, expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { type TSchema, Type } from "@sinclair/typebox";
import { readQuery } from "../src/http/query.ts";
import { type Validator, validator } from "../src/http/validate.ts";
import { createAgentRequest } from "../src/routes/agent-request.ts";
import { CreateAgentBody, ListAgentsQuery } from "../src/schemas/agents/requests.ts";
import { CallBatchBody, CallBody } from "../src/schemas/calls.ts";
import { ListProvidersQuery } from "../src/schemas/catalogue.ts";
import { ChatBody } from "../src/schemas/chat.ts";
import { ListConversationsQuery } from "../src/schemas/conversations.ts";
import { DailySessionBody } from "../src/schemas/daily.ts";
import { ReplayBody, RunTestsBody } from "../src/schemas/tests/requests.ts";
import { Text } from "../src/schemas/types.ts";
import { WebCallBody } from "../src/schemas/web-calls.ts";

const check = validator(CreateAgentBody);
const GOOD = { agent_name: "Ada", agent_type: "INBOUND" };

function messagesOf(value: unknown, validate: Validator<TSchema> = check): string[] {
  try {
    validate(value);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.kind).toBe("invalid");
    return error.violations.map(({ message }) => message);
  }
}

/** The categories that docs/api-reference.md#agents lists. */
const CATEGORIES =
  "Customer Service, Sales, Scheduling, Research, Healthcare, Customer Success, Education, Finance, HR, Legal, Productivity, Creative, IT/DevOps, E-commerce, Entertainment, Travel, Wellness, Anime, Cartoon, Gaming, Lifestyle, other".split(
    ", ",
  );

const custom = (params: object) => ({
  ...GOOD,
  llm: { provider_name: "CUSTOM_LLM", model_name: "m", params },
});

test("only the first twenty of many violations are reported", () => {
  const params = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`p${at}`, 1]));
  expect(messagesOf({ ...GOOD, stt: { provider_name: "DEEPGRAM", model_name: "m", params } })).toHaveLength(20);
  expect(messagesOf({ ...GOOD, agent_tips: Array(25).fill(1) })).toHaveLength(20);
});

test("minimum and maximum lengths count characters", () => {
  const checkText = validator(Type.Object({ text: Text({ min: 2, max: 3 }) }));
  const passes = (text: string) => {
    try {
      return Boolean(checkText({ text }));
    } catch {
      return false;
    }
  };
  expect(["😀", "😀😀", "😀😀😀", "😀😀😀😀"].map(passes)).toEqual([false, true, true, false]);
});

test("a very long field name is not repeated in full", () => {
  const stt = { provider_name: "DEEPGRAM", model_name: "m", params: { ["k".repeat(900_000)]: 1 } };
  const [message = ""] = messagesOf({ ...GOOD, stt });
  expect(message).toStartWith(`stt.params.${"k".repeat(200)}… is not allowed`);
  expect(message.length).toBeLessThan(500);
});

const LONG = "x".repeat(16 * 1024);

describe.each<[string, TSchema, object]>([
  ["a chat message", ChatBody, { agent_id: "a", message: "Hi" }],
  ["a call", CallBody, { agent_id: "a", to_mobile_number: "+14155550188" }],
  ["a batch of calls", CallBatchBody, { agent_id: "a" }],
  ["a web call", WebCallBody, { agent_id: "a" }],
  ["a Daily session", DailySessionBody, { agent_id: "a" }],
])("the metadata of %s", (_what, schema, others) => {
  const given = (dynamic_variables: unknown) => ({ ...others, metadata: { plan: ["any", {}], dynamic_variables } });

  test.each([[null], [{}], [{ name: "Ada", age: 36, isNew: false, city: null, orders: [7, { id: 8 }] }]])(
    "may have dynamic_variables %j",
    (variables) => {
      expect(messagesOf(given(variables), validator(schema))).toEqual([]);
    },
  );

  test.each<[unknown, string]>([
    ["Ada", "metadata.dynamic_variables must be an object"],
    [7, "metadata.dynamic_variables must be an object"],
    [["Ada"], "metadata.dynamic_variables must be an object"],
    [{ name: [LONG] }, "metadata.dynamic_variables.name must be at most 16 KiB of JSON"],
    [{ name: { of: LONG } }, "metadata.dynamic_variables.name must be at most 16 KiB of JSON"],
  ])("is refused with dynamic_variables %#", (variables, message) => {
    expect(messagesOf(given(variables), validator(schema))).toEqual([message]);
  });
});

test.each<[TSchema, object]>([
  [CallBody, { agent_id: "a", to_mobile_number: "+14155550188" }],
  [WebCallBody, { agent_id: "a" }],
  [DailySessionBody, { agent_id: "a" }],
])("the variables of a call are refused by the same rules as those of a chat", (schema, others) => {
  expect(messagesOf({ ...others, dynamic_variables: "Ada" }, validator(schema))).toEqual([
    "dynamic_variables must be an object",
  ]);
  expect(messagesOf({ ...others, dynamic_variables: { name: [LONG] } }, validator(schema))).toEqual([
    "dynamic_variables.name must be at most 16 KiB of JSON",
  ]);
});

describe("a violation is reported with its field and the fix", () => {
  test.each<[string, unknown, string]>([
    ["missing field", { agent_type: "INBOUND" }, "agent_name is required"],
    ["too long", { ...GOOD, agent_name: "x".repeat(101) }, "agent_name must be at most 100 characters"],
    ["empty", { ...GOOD, agent_name: "" }, "agent_name must not be empty"],
    ["wrong type", { ...GOOD, agent_name: 7 }, "agent_name must be a string"],
    ["wrong word", { ...GOOD, agent_type: "BOTH" }, "agent_type must be one of INBOUND, OUTBOUND"],
    ["text for one of several objects", { ...GOOD, llm: "OPENAI" }, "llm must be an object"],
    ["array wanted", { ...GOOD, agent_tips: "tip" }, "agent_tips must be an array"],
    [
      "item",
      { ...GOOD, agent_mobile_number: ["12"] },
      "agent_mobile_number.0 must be a phone number in E.164 form, such as +14155550123",
    ],
    ...["floor-plan.png", "javascript:alert(1)", "https://", "https://cdn.acme.example/floor plan.png"].map(
      (mediaUrl): [string, unknown, string] => [
        `media address ${mediaUrl}`,
        { ...GOOD, MediaFiles: [{ fileType: "image/png", mediaUrl }] },
        "MediaFiles.0.mediaUrl must be an https:// or http:// address",
      ],
    ),
    ["custom without base_url", custom({ api_key: "k" }), "llm.params.base_url is required"],
    [
      "blank model name",
      { ...GOOD, llm: { ...custom({ base_url: "https://a", api_key: "k" }).llm, model_name: " \u00a0" } },
      "llm.model_name must not be blank",
    ],
    ["blank words", { ...GOOD, call_settings: { apology: "  " } }, "call_settings.apology must not be blank"],
    [
      "an origin without its scheme",
      { ...GOOD, widget_config: { allowed_origins: ["https://shop.example", "shop.example"] } },
      "widget_config.allowed_origins.1 must be the origin of web pages, such as https://shop.example, without a path",
    ],
    [
      "blank button",
      { ...GOOD, widget_config: { suggested_messages: ["Hello", "\n"] } },
      "widget_config.suggested_messages.1 must not be blank",
    ],
    [
      "custom with a query in base_url",
      custom({ base_url: "https://a/v1?b=c", api_key: "k" }),
      "llm.params.base_url must be an https:// address without spaces, ? and #",
    ],
    [
      "custom with a line break in base_url",
      custom({ base_url: "https://a/v1\n", api_key: "k" }),
      "llm.params.base_url must be an https:// address without spaces, ? and #",
    ],
    [
      "custom with a key that no header can carry",
      custom({ base_url: "https://a", api_key: "a\nb" }),
      "llm.params.api_key must be printable ASCII without spaces",
    ],
    [
      "custom with a secret without a name",
      custom({ base_url: "https://a", api_key: { secret: "" } }),
      "llm.params.api_key.secret must not be empty",
    ],
    [
      "custom with neither a key nor a secret",
      custom({ base_url: "https://a", api_key: 7 }),
      "llm.params.api_key must be a string or an object",
    ],
    [
      "number out of its bounds where null is allowed",
      { ...GOOD, prompt: { prompt_name: "p", prompt_version: 0 } },
      "prompt.prompt_version must be between 1 and 2147483647",
    ],
    [
      "custom with more",
      custom({ base_url: "https://a", api_key: "k", top_p: 1 }),
      "llm.params.top_p is not allowed: allowed are base_url, api_key, API_TYPE, temperature",
    ],
    [
      "price of a custom model",
      { ...GOOD, llm: { ...custom({ base_url: "https://a", api_key: "k" }).llm, pricing: { input: -1, output: 1 } } },
      "llm.pricing.input must be between 0 and 10000",
    ],
    ...["text", [null], [{ provider_name: "OPENAI", model_name: "m" }]].map((nested): [string, object, string] => {
      const model = { provider_name: "OPENAI", model_name: "m" };
      const message = `llm.fallbacks.0.fallbacks must be ${Array.isArray(nested) ? "empty" : "an array"}`;
      return [
        `fallback with ${nested}`,
        { ...GOOD, llm: { ...model, fallbacks: [{ ...model, fallbacks: nested }] } },
        message,
      ];
    }),
    [
      "custom without params",
      { ...GOOD, llm: { provider_name: "CUSTOM_LLM", model_name: "m" } },
      "llm.params is required",
    ],
    [
      "standard with more",
      { ...GOOD, llm: { provider_name: "OPENAI", model_name: "m", params: { top_p: 1 } } },
      "llm.params.top_p is not allowed: only temperature is",
    ],
    [
      "temperature",
      { ...GOOD, llm: { provider_name: "OPENAI", model_name: "m", params: { temperature: 3 } } },
      "llm.params.temperature must be between 0 and 2",
    ],
    [
      "stt params",
      { ...GOOD, stt: { provider_name: "DEEPGRAM", model_name: "m", params: { a: 1 } } },
      "stt.params.a is not allowed: it must be empty",
    ],
    [
      "unknown tool",
      { ...GOOD, tools: { dance: true } },
      "tools.dance is not allowed: allowed are end_call, transfer_call, send_dtmf, schedule_call, set_language, background_audio, user_idle",
    ],
    ["tool null", { ...GOOD, tools: { end_call: null } }, "tools.end_call must be true or false or an object"],
    [
      "tool number",
      { ...GOOD, tools: { transfer_call: { transfer_phone_number: "911" } } },
      "tools.transfer_call.transfer_phone_number must be a phone number in E.164 form, such as +14155550123",
    ],
    ["keys with settings", { ...GOOD, tools: { send_dtmf: {} } }, "tools.send_dtmf must be true or false"],
    [
      "transfer without a number",
      { ...GOOD, tools: { transfer_call: true } },
      "tools.transfer_call must be false, or an object with the number to transfer to: transfer_phone_number",
    ],
    [
      "transfer without a number in its settings",
      { ...GOOD, tools: { transfer_call: { message: "One moment." } } },
      "tools.transfer_call.transfer_phone_number is required",
    ],
    [
      "transfer to no number of a list",
      { ...GOOD, tools: { transfer_call: { transfer_phone_number: [] } } },
      "tools.transfer_call.transfer_phone_number must not be empty",
    ],
    [
      "transfer to a list with a wrong number",
      { ...GOOD, tools: { transfer_call: { transfer_phone_number: ["+14155550123", "911"] } } },
      "tools.transfer_call.transfer_phone_number.1 must be a phone number in E.164 form, such as +14155550123",
    ],
    ...["Mars/Base", "", "+05:30", "Europe/Berlin "].map((timezone): [string, object, string] => [
      `time zone ${timezone}`,
      { ...GOOD, tools: { schedule_call: { timezone } } },
      "tools.schedule_call.timezone must be an IANA time zone, such as Europe/Berlin",
    ]),
    ...["other ", "Other", "sales"].map((agent_category): [string, object, string] => [
      `category ${agent_category}`,
      { ...GOOD, agent_category },
      `agent_category must be one of ${CATEGORIES.join(", ")}`,
    ]),
    [
      "tts params",
      { ...GOOD, tts: { provider_name: "OPENAI", voice_id: "v", params: { pitch: 1 } } },
      "tts.params.pitch is not allowed: only speed is",
    ],
    [
      "speed",
      { ...GOOD, tts: { provider_name: "OPENAI", voice_id: "v", params: { speed: 9 } } },
      "tts.params.speed must be between 0.25 and 4",
    ],
  ])("%s", (_, value, message) => {
    expect(messagesOf(value)).toEqual([message]);
  });

  test("a wrong word where a number would do names both", () => {
    const body = { agent_id: "a", message: "Hi", agent_version: "newest" };
    const message = "agent_version must be an integer or one of published, latest";
    expect(messagesOf(body, validator(ChatBody))).toEqual([message]);
  });

  test("values just within their bounds are accepted", () => {
    const standard = (temperature: number) => ({
      llm: { provider_name: "OPENAI", model_name: "m", params: { temperature } },
    });
    const tts = (speed: number) => ({ tts: { provider_name: "OPENAI", voice_id: "v".repeat(200), params: { speed } } });
    const longest = "x".repeat(500_000);
    const contents = [{ prompt_content: longest }, { call_analysis_prompt: { custom_prompt: longest } }];
    const taken = [standard(0), standard(2), tts(0.25), tts(4), { agent_description: "x".repeat(500) }, ...contents];
    for (const fields of taken) expect(messagesOf({ ...GOOD, ...fields })).toEqual([]);
    for (const agent_category of CATEGORIES) expect(messagesOf({ ...GOOD, agent_category })).toEqual([]);
  });

  test("every broken field is named, at most 20 of them", () => {
    expect(messagesOf({ agent_name: "", agent_type: 1 })).toHaveLength(2);
    expect(messagesOf({ ...GOOD, agent_tips: Array.from({ length: 50 }, () => 1) })).toHaveLength(20);
  });

  test("lengths count code points, not UTF-16 units", () => {
    expect(messagesOf({ ...GOOD, agent_name: "🦜".repeat(100) })).toEqual([]);
    expect(messagesOf({ ...GOOD, agent_name: "🦜".repeat(101) })).toEqual([
      "agent_name must be at most 100 characters",
    ]);
  });

  test("unknown fields are ignored and null counts as absent", () => {
    expect(messagesOf({ ...GOOD, color: "red", agent_description: null, llm: null })).toEqual([]);
  });
});

describe("a query is read by its schema", () => {
  test.each<[string, Record<string, unknown>]>([
    ["?page=2&page_size=5", { page: 2, page_size: 5 }],
    ["?page=2&page=3", { page: 2 }],
    ["?search=&page=1", { page: 1 }],
    ["?search=a%20b&unknown=1", { search: "a b" }],
    ["?page=two", { page: "two" }],
    ["", {}],
  ])("%s", (query, expected) => {
    expect(readQuery(`http://gateway/x${query}`, ListAgentsQuery)).toEqual(expected);
  });

  test("a parameter that has only one value is refused with that value", () => {
    const query = readQuery("http://gateway/x?include=prizes", ListProvidersQuery);
    expect(() => validator(ListProvidersQuery)(query)).toThrow("include must be prices");
  });

  test("a date-time whose + was not encoded is refused with the fix", () => {
    const query = readQuery("http://gateway/x?from_date=2026-01-31T09:30:00+05:30", ListConversationsQuery);
    expect(() => validator(ListConversationsQuery)(query)).toThrow(
      "from_date must be an ISO 8601 date and time, such as 2026-01-31T09:30:00Z, with the + of an offset sent as %2B",
    );
  });

  test("a NUL character is refused by name", () => {
    expect(() => readQuery("http://gateway/x?search=a%00", ListAgentsQuery)).toThrow(
      "search must not contain a NUL character",
    );
  });
});

test("a version of a custom analysis prompt is refused, because the text makes a new one", () => {
  const call_analysis_prompt = { custom_prompt: "Was the caller helped?", prompt_version: 2 };
  expect(() => createAgentRequest("own_1", { ...GOOD, agent_type: "INBOUND", call_analysis_prompt })).toThrow(
    "call_analysis_prompt.prompt_version must not be given with custom_prompt, which makes a new version",
  );
});

test("a misspelled field does not make a run hold all tests, nor a replay take other conversations", () => {
  const allowed = "is not allowed: allowed are agent_version, ";
  expect(messagesOf({ test_ids: ["tst_1"] }, validator(RunTestsBody))).toEqual([
    `test_ids ${allowed}tests, max_cost_usd, unpriced`,
  ]);
  expect(messagesOf({ agent_version: 1, conversation: {}, max: 1 }, validator(ReplayBody))).toEqual([
    `conversation ${allowed}conversations, max, channel, max_cost_usd, unpriced`,
  ]);
});
