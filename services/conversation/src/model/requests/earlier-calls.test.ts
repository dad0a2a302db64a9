import { expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelRequest } from "../port.ts";
import { LLM_PROVIDERS } from "../providers.ts";
import { callOptions } from "./prompt.ts";
import { onlyWrite, requestWriter } from "./written-request.ts";

const call = (city: string, result: string) => ({ name: "weather", input: { city }, result, isError: false });
/** Two calls of one answer, one of the next, and later turns. */
const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", content: "Weather?" },
    { role: "assistant", content: "One moment.", toolCalls: [call("Rome", "sunny"), call("Oslo", "snow")] },
    { role: "assistant", content: "", toolCalls: [call("Rome", "still sunny")] },
    { role: "assistant", content: "Sunny in Rome, snow in Oslo." },
    { role: "user", content: "Thanks" },
  ],
  tools: [{ name: "weather", description: "Tells the weather", inputSchema: { type: "object" } }],
};

/** The body of the request, as the package of a provider writes it. */
async function bodyFor(provider: string, request: ModelRequest) {
  const access = { apiKey: "k", baseURL: "http://127.0.0.1/v1", fetch: onlyWrite };
  const { create, userFirst = false, needsTools } = LLM_PROVIDERS[provider] ?? CUSTOM;
  const settings = { temperature: undefined, userFirst, needsTools };
  const written = await requestWriter(create(access, "m"))(callOptions(request, settings), "whole");
  const { body } = written.init;
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array));
}

const CUSTOM = {
  userFirst: true,
  needsTools: undefined,
  create: (access: { apiKey: string; baseURL: string; fetch: typeof fetch }, model: string) =>
    createOpenAICompatible({ ...access, name: "custom" }).chatModel(model),
};

// biome-ignore lint/suspicious/noExplicitAny: the bodies of five protocols
type Json = any;

/** What the events of a request are, in order: words of a role, a call with its id, a result with the id of its call. */
function eventsOf(body: Json): string[] {
  if (body.contents) {
    return body.contents.flatMap(({ role, parts }: Json) =>
      parts.map((part: Json) => {
        if (part.functionCall) return `call ${part.functionCall.args.city}`;
        if (part.functionResponse) return `result ${JSON.stringify(part.functionResponse.response)}`;
        return `${role}: ${part.text}`;
      }),
    );
  }
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `${ids.size + 1}`);
    return ids.get(id);
  };
  const textOf = (content: Json) =>
    typeof content === "string" ? content : content?.map((part: Json) => part.text).join("");
  return (body.messages ?? body.input).flatMap((item: Json) => {
    if (item.type === "function_call") return `call ${numbered(item.call_id)} ${item.arguments}`;
    if (item.type === "function_call_output") return `result ${numbered(item.call_id)} ${item.output}`;
    if (item.role === "tool") return `result ${numbered(item.tool_call_id)} ${textOf(item.content)}`;
    const parts = Array.isArray(item.content) ? item.content : [{ type: "text", text: item.content }];
    const calls = (item.tool_calls ?? []).map((made: Json) => `call ${numbered(made.id)} ${made.function.arguments}`);
    return [
      ...parts.flatMap((part: Json) => {
        if (part.type === "tool_use") return `call ${numbered(part.id)} ${JSON.stringify(part.input)}`;
        if (part.type === "tool_result") return `result ${numbered(part.tool_use_id)} ${textOf(part.content)}`;
        return part.text ? `${item.role}: ${part.text}` : [];
      }),
      ...calls,
    ];
  });
}

const WITH_IDS = [
  "assistant: One moment.",
  'call 1 {"city":"Rome"}',
  'call 2 {"city":"Oslo"}',
  "result 1 sunny",
  "result 2 snow",
  'call 3 {"city":"Rome"}',
  "result 3 still sunny",
  "assistant: Sunny in Rome, snow in Oslo.",
  "user: Thanks",
];

test.each([...Object.keys(LLM_PROVIDERS), "CUSTOM_LLM"])(
  "%s gets each earlier call with an id of its own, its result right behind it, and the words between",
  async (provider) => {
    const events = eventsOf(await bodyFor(provider, REQUEST));
    const from = events.findIndex((event) => event.includes("One moment."));
    if (provider === "GOOGLE") {
      expect(
        events
          .slice(from)
          .map((event) => event.replace(/\{.*\}/, (json) => (/still sunny|sunny|snow/.exec(json) ?? [""])[0])),
      ).toEqual([
        "model: One moment.",
        "call Rome",
        "call Oslo",
        "result sunny",
        "result snow",
        "call Rome",
        "result still sunny",
        "model: Sunny in Rome, snow in Oslo.",
        "user: Thanks",
      ]);
    } else {
      expect(events.slice(from)).toEqual(WITH_IDS);
    }
  },
);

test("a model that must answer without tools is offered none; Anthropic, which refuses earlier calls then, is told not to call any", async () => {
  for (const provider of [...Object.keys(LLM_PROVIDERS), "CUSTOM_LLM"]) {
    const { tools, tool_choice } = await bodyFor(provider, { ...REQUEST, tools: [] });
    if (provider !== "ANTHROPIC") expect(tools ?? []).toEqual([]);
    else
      expect({ names: tools.map(({ name }: { name: string }) => name), tool_choice }).toEqual({
        names: ["weather"],
        tool_choice: { type: "none" },
      });
  }
});
