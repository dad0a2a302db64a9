import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { outsideText } from "../outside-text.ts";
import type { AnsweredToolCall, ModelMessage, ModelRequest } from "../port.ts";

export interface ModelSettings {
  temperature: number | undefined;
  /** Whether the provider may refuse conversations that start with an assistant message. */
  userFirst: boolean;
  /** Whether the provider refuses earlier tool calls in a request without tools. */
  needsTools?: boolean | undefined;
  /** Whether the system prompt begins the user's first message, because the model's template has no role for it. */
  isSystemSaid?: boolean | undefined;
}

/** Converts a request to the AI SDK's form. @param signal aborts the call, if the SDK makes it */
export function callOptions(
  request: ModelRequest,
  { temperature, needsTools = false, ...roles }: ModelSettings,
  signal?: AbortSignal,
): LanguageModelV4CallOptions {
  return {
    prompt: toPrompt(request, roles),
    ...(signal && { abortSignal: signal }),
    ...(temperature !== undefined && { temperature }),
    ...(request.answer && { responseFormat: { type: "json", ...request.answer } }),
    ...toolsOf(request, needsTools),
  };
}

/** The tools that the model may call, or else, if it must be told of some, those that it has called. */
function toolsOf(
  { tools, messages }: ModelRequest,
  needsTools: boolean,
): Pick<LanguageModelV4CallOptions, "tools" | "toolChoice"> {
  if (tools.length > 0) return { tools: tools.map(functionTool) };
  const names = needsTools ? messages.flatMap((message) => toolCallsOf(message) ?? []).map(({ name }) => name) : [];
  if (names.length === 0) return {};
  const called = [...new Set(names)].map((name) => ({ name, description: "", inputSchema: { type: "object" } }));
  return { tools: called.map(functionTool), toolChoice: { type: "none" } };
}

function functionTool({ name, description, inputSchema }: ModelRequest["tools"][number]): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

/** Placed before a greeting, or where older messages were dropped. */
const OPENING = "(The conversation begins.)";

type Roles = Pick<ModelSettings, "userFirst" | "isSystemSaid">;

function toPrompt({ system, messages }: ModelRequest, { userFirst, isSystemSaid }: Roles): LanguageModelV4Prompt {
  const hasRole = system !== "" && !isSystemSaid;
  const prompt: LanguageModelV4Prompt = hasRole ? [{ role: "system", content: system }] : [];
  const before = [
    ...(hasRole ? [] : [system]),
    ...(userFirst && messages[0]?.role === "assistant" ? [OPENING] : []),
  ].filter((content) => content !== "");
  let calls = 0;
  for (const message of alternating([...before.map((content) => ({ role: "user" as const, content })), ...messages])) {
    const numbered = (toolCallsOf(message) ?? []).map((call) => ({ id: callId(++calls), call }));
    prompt.push(said(message, numbered));
    if (numbered.length > 0) prompt.push({ role: "tool", content: numbered.map(result) });
  }
  return prompt;
}

/**
 * Joins messages that the same side said in a row, such as one whose reply failed and the next: the templates of many models refuse
 * roles that do not alternate.
 */
function alternating(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role !== message.role || toolCallsOf(last)) joined.push(message);
    else joined[joined.length - 1] = { ...message, content: joinedText(last.content, message.content) };
  }
  return joined;
}

function joinedText(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Our own id, because another provider may get it next; Mistral demands nine letters or digits. */
function callId(number: number): string {
  return `call${String(number).padStart(5, "0")}`;
}

interface NumberedCall {
  id: string;
  call: AnsweredToolCall;
}

function toolCallsOf(message: ModelMessage): readonly AnsweredToolCall[] | undefined {
  return message.role === "assistant" ? message.toolCalls : undefined;
}

function said({ role, content }: ModelMessage, calls: readonly NumberedCall[]): LanguageModelV4Message {
  const text = { type: "text" as const, text: content };
  if (role === "user") return { role, content: [text] };
  const called = calls.map(({ id, call }) => ({
    type: "tool-call" as const,
    toolCallId: id,
    toolName: call.name,
    input: call.input ?? {},
  }));
  return { role, content: content === "" ? called : [text, ...called] };
}

function result({ id, call }: NumberedCall) {
  const value = call.isOutside ? outsideText(call.result) : call.result;
  const output = { type: call.isError ? ("error-text" as const) : ("text" as const), value };
  return { type: "tool-result" as const, toolCallId: id, toolName: call.name, output };
}
