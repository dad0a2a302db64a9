import { type AnswerShapes, bearer, type Dialect, type End, INPUT_TOKENS, OUTPUT_TOKENS, textOf } from "./dialect.ts";

/** https://platform.openai.com/docs/api-reference/chat, which Groq and most model servers speak too. */
export const chatCompletions: Dialect = dialect((reason) => [
  { ...chunk({}, finishReason(reason)), x_groq: { usage: USAGE } },
  { ...HEAD, object: "chat.completion.chunk", choices: [], usage: USAGE },
  "[DONE]",
]);

/** https://docs.mistral.ai/api: the last chunk has everything. */
export const mistralChat: Dialect = dialect((reason) => [
  { ...chunk({}, finishReason(reason)), usage: USAGE },
  "[DONE]",
]);

function dialect(end: AnswerShapes["end"]): Dialect {
  return {
    error: { error: { message: "secret", type: "server_error", param: null, code: null } },
    answer(): AnswerShapes {
      let calls = 0;
      return {
        piece: (content) => [chunk({ content })],
        toolCall: (name, input) => [chunk({ tool_calls: [{ index: calls, ...toolCall(calls++, name, input) }] })],
        end,
        whole: (content, called, reason) => {
          const toolCalls = called.map(({ name, input }, at) => toolCall(at, name, input));
          const message = { role: "assistant", content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
          const choices = [{ index: 0, message, finish_reason: finishReason(reason) }];
          return { ...HEAD, object: "chat.completion", choices, usage: USAGE };
        },
      };
    },
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

const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "scripted" };
const USAGE = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};

function chunk(delta: object, finish_reason: string | null = null) {
  return { ...HEAD, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

function toolCall(at: number, name: string, input: string) {
  return { id: `call_${at}`, type: "function", function: { name, arguments: input } };
}

function finishReason(reason: End): string | null {
  return reason === "tools" ? "tool_calls" : reason;
}
