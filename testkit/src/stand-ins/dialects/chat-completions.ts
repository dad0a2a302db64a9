import {
  type AnswerFacts,
  type AnswerShapes,
  bearer,
  type Dialect,
  type End,
  scriptedFacts,
  textOf,
} from "./dialect.ts";

/** https://platform.openai.com/docs/api-reference/chat, which most model servers speak too. */
export const chatCompletions: Dialect = dialect("openai");

/** https://console.groq.com/docs/api-reference: the last chunk has the usage in a field of Groq's own. */
export const groqChat: Dialect = dialect("groq");

/** https://docs.mistral.ai/api: a tool call is one chunk, and the last chunk has everything. */
export const mistralChat: Dialect = dialect("mistral");

type Flavour = "openai" | "groq" | "mistral";

function dialect(flavour: Flavour): Dialect {
  return {
    error: { error: { message: "secret", type: "server_error", param: null, code: null } },
    answer: (facts = scriptedFacts()) => answer(facts, flavour),
    read(request) {
      const { body } = request;
      const [first] = body.messages;
      const isSystem = first?.role === "system" || first?.role === "developer";
      return {
        key: bearer(request),
        model: body.model,
        isStream: body.stream === true,
        temperature: body.temperature,
        system: isSystem ? textOf(first.content) : "",
        messages: body.messages.slice(isSystem ? 1 : 0).flatMap(linesOf),
        tools: (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
        schema: body.response_format?.json_schema?.schema,
      };
    },
  };
}

function answer(facts: AnswerFacts, flavour: Flavour): AnswerShapes {
  const { model, newId, createdAtSeconds: created, includeUsage } = facts;
  const head = { id: newId("chatcmpl-"), created, model, service_tier: "default", system_fingerprint: "fp_scripted" };
  const usage = usageOf(facts);
  const chunk = (choices: object[], told: object | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices,
    // If asked, OpenAI sends `usage` on every chunk, null except on the last.
    ...(includeUsage && { usage: told }),
  });
  const saying = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason },
  ];
  const toolCall = (name: string, input: string) => ({
    id: newId("call_"),
    type: "function",
    function: { name, arguments: input },
  });
  const isMistral = flavour === "mistral";
  let calls = 0;
  let opened = false;
  const open = (content: string | null) => {
    if (opened) return {};
    opened = true;
    return { role: "assistant", content, refusal: null };
  };
  return {
    piece(content) {
      const opening = opened ? [] : [chunk(saying(open("")))];
      return [...opening, chunk(saying({ content }))];
    },
    toolCall(name, input) {
      const index = calls++;
      const call = toolCall(name, isMistral ? input : "");
      const named = chunk(saying({ ...open(null), tool_calls: [{ index, ...call }] }));
      return isMistral ? [named] : [named, chunk(saying({ tool_calls: [{ index, function: { arguments: input } }] }))];
    },
    end(reason) {
      const last = saying({}, finishReason(reason));
      if (isMistral) return [chunk(last, usage), "[DONE]"];
      if (flavour === "groq") return [{ ...chunk(last), x_groq: { usage } }, "[DONE]"];
      return [chunk(last), ...(includeUsage ? [chunk([], usage)] : []), "[DONE]"];
    },
    whole(content, called, reason) {
      const toolCalls = called.map(({ name, input }) => toolCall(name, input));
      const spoken = content === "" && toolCalls.length > 0 ? null : content;
      const message = {
        role: "assistant",
        content: spoken,
        refusal: null,
        annotations: [],
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason(reason) }];
      return { ...head, object: "chat.completion", choices, usage };
    },
  };
}

interface ChatMessage {
  role: string;
  content: unknown;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

function linesOf({ role, content, tool_calls = [] }: ChatMessage): string[] {
  if (role === "tool") return [`result: ${textOf(content)}`];
  const text = textOf(content);
  const calls = tool_calls.map(({ function: { name, arguments: input } }) => `call: ${name} ${input}`);
  return text === "" ? calls : [`${role}: ${text}`, ...calls];
}

function usageOf({ usage: { inputTokens, outputTokens } }: AnswerFacts) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function finishReason(reason: End): string | null {
  return reason === "tools" ? "tool_calls" : reason;
}
