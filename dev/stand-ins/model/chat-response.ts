import { type Answer, estimateUsage, words } from "./answer.ts";
import type { Ask } from "./ask.ts";
import type { ChatAsk } from "./chat-request.ts";
import type { SseEvent } from "./sse.ts";
import type { Stamp } from "./stamp.ts";

/** The whole answer, OpenAI's `chat.completion`. */
export function chatCompletion(ask: ChatAsk, answer: Answer, stamp: Stamp) {
  const message =
    answer.kind === "text"
      ? { role: "assistant", content: answer.text, refusal: null, annotations: [] }
      : { role: "assistant", content: null, refusal: null, annotations: [], tool_calls: [toolCall(answer, stamp)] };
  return {
    ...head(ask, stamp, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer) }],
    usage: usage(ask, answer),
  };
}

/** The streamed answer, OpenAI's `chat.completion.chunk` events and the closing `[DONE]`. */
export function* chatCompletionEvents(ask: ChatAsk, answer: Answer, stamp: Stamp): Generator<SseEvent> {
  const common = head(ask, stamp, "chat.completion.chunk");
  // If asked, OpenAI sends `usage` on every chunk, null except on the last.
  const noUsage = ask.includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: string | null = null) =>
    JSON.stringify({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...noUsage });

  if (answer.kind === "text") {
    yield { data: chunk({ role: "assistant", content: "", refusal: null }) };
    for (const word of words(answer.text)) yield { data: chunk({ content: word }), word: true };
  } else {
    const call = toolCall(answer, stamp);
    const named = { index: 0, ...call, function: { ...call.function, arguments: "" } };
    yield { data: chunk({ role: "assistant", content: null, tool_calls: [named], refusal: null }) };
    yield { data: chunk({ tool_calls: [{ index: 0, function: { arguments: answer.arguments } }] }), word: true };
  }
  yield { data: chunk({}, finishReason(answer)) };
  if (ask.includeUsage) yield { data: JSON.stringify({ ...common, choices: [], usage: usage(ask, answer) }) };
  yield { data: "[DONE]" };
}

function head(ask: Ask, stamp: Stamp, object: string) {
  return {
    id: stamp.newId("chatcmpl-"),
    object,
    created: stamp.createdAtSeconds,
    model: ask.model,
    service_tier: "default",
    system_fingerprint: "fp_stand_in",
  };
}

function toolCall(answer: Answer & { kind: "call" }, stamp: Stamp) {
  const { name, arguments: args } = answer;
  return { id: stamp.newId("call_"), type: "function", function: { name, arguments: args } };
}

function finishReason(answer: Answer): string {
  return answer.kind === "text" ? "stop" : "tool_calls";
}

function usage(ask: Ask, answer: Answer) {
  const { promptTokens, completionTokens } = estimateUsage(ask, answer);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
