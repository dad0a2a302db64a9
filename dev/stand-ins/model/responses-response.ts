import { type Answer, estimateUsage, words } from "./answer.ts";
import type { Ask } from "./ask.ts";
import type { ResponsesAsk } from "./responses-request.ts";
import type { SseEvent } from "./sse.ts";
import type { Stamp } from "./stamp.ts";

/** The whole answer, OpenAI's `response` object. */
export function responseObject(ask: ResponsesAsk, answer: Answer, stamp: Stamp) {
  return completed(created(ask, stamp), outputItem(answer, stamp), ask, answer);
}

/** The streamed answer: OpenAI's `response.*` events, numbered from 0. */
export function* responseEvents(ask: ResponsesAsk, answer: Answer, stamp: Stamp): Generator<SseEvent> {
  let sequence = 0;
  const event = (type: string, fields: object): SseEvent => ({
    event: type,
    data: JSON.stringify({ type, sequence_number: sequence++, ...fields }),
  });
  const response = created(ask, stamp);
  const item = outputItem(answer, stamp);

  yield event("response.created", { response });
  yield event("response.in_progress", { response });
  yield event("response.output_item.added", { output_index: 0, item: { ...item, ...unfinished(item) } });
  if (item.type === "message") {
    const [part] = item.content;
    const at = { item_id: item.id, output_index: 0, content_index: 0 };
    yield event("response.content_part.added", { ...at, part: { ...part, text: "" } });
    for (const delta of words(part.text)) {
      yield { ...event("response.output_text.delta", { ...at, delta, logprobs: [] }), word: true };
    }
    yield event("response.output_text.done", { ...at, text: part.text, logprobs: [] });
    yield event("response.content_part.done", { ...at, part });
  } else {
    const at = { item_id: item.id, output_index: 0 };
    yield { ...event("response.function_call_arguments.delta", { ...at, delta: item.arguments }), word: true };
    yield event("response.function_call_arguments.done", { ...at, name: item.name, arguments: item.arguments });
  }
  yield event("response.output_item.done", { output_index: 0, item });
  yield event("response.completed", { response: completed(response, item, ask, answer) });
}

function created(ask: ResponsesAsk, stamp: Stamp) {
  return {
    id: stamp.newId("resp_"),
    object: "response",
    created_at: stamp.createdAtSeconds,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    ...ask.echo,
    model: ask.model,
    output: [],
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: false,
    usage: null,
  };
}

function completed(response: ReturnType<typeof created>, item: OutputItem, ask: Ask, answer: Answer) {
  const { promptTokens, completionTokens } = estimateUsage(ask, answer);
  const usage = {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
  return { ...response, status: "completed", output: [item], usage };
}

type TextPart = { type: "output_text"; annotations: []; logprobs: []; text: string };
type OutputItem =
  | { id: string; type: "message"; status: "completed"; role: "assistant"; content: [TextPart] }
  | { id: string; type: "function_call"; status: "completed"; call_id: string; name: string; arguments: string };

function outputItem(answer: Answer, stamp: Stamp): OutputItem {
  if (answer.kind === "call") {
    const { name, arguments: args } = answer;
    const id = stamp.newId("fc_");
    return { id, type: "function_call", status: "completed", call_id: stamp.newId("call_"), name, arguments: args };
  }
  const part: TextPart = { type: "output_text", annotations: [], logprobs: [], text: answer.text };
  return { id: stamp.newId("msg_"), type: "message", status: "completed", role: "assistant", content: [part] };
}

function unfinished(item: OutputItem) {
  return { status: "in_progress", ...(item.type === "message" ? { content: [] } : { arguments: "" }) };
}
