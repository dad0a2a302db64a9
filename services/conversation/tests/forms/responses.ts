import { CUT_OFF, EMPTY, events, type Form, named, SAID } from "./form.ts";

const HEAD = { id: "resp_1", object: "response", created_at: 1, model: "gpt" };
const USAGE = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
};
const message = (text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const callItem = (args: unknown = '{"language":"es"}') => ({
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "set_language",
  arguments: args,
});
const event = (type: string, fields: object = {}) => ({ type, sequence_number: 0, ...fields });
const CREATED = event("response.created", { response: { ...HEAD, status: "in_progress", output: [] } });
const added = (item: object, output_index = 0) => event("response.output_item.added", { output_index, item });
const itemDone = (item: object, output_index = 0) => event("response.output_item.done", { output_index, item });
const AT = { item_id: "msg_1", output_index: 0, content_index: 0 };
const text = (delta: string, at: object = AT) => event("response.output_text.delta", { ...at, delta, logprobs: [] });
const WORDS = [added({ ...message(""), content: [] }), text("We open "), text("at nine.")];
const DONE = [
  event("response.output_text.done", { ...AT, text: SAID }),
  event("response.content_part.done", { ...AT, part: message(SAID).content[0] }),
  itemDone(message(SAID)),
];
const ended = (type: string, fields: object = {}) =>
  event(`response.${type}`, { response: { ...HEAD, status: type, output: [message(SAID)], usage: USAGE, ...fields } });
const COMPLETED = ended("completed");
const said = (...between: readonly { type: string }[]) => named(CREATED, ...WORDS, ...between, ...DONE, COMPLETED);
const ARGS = { item_id: "fc_1", output_index: 0 };
const CALL = [
  added(callItem("")),
  event("response.function_call_arguments.delta", { ...ARGS, delta: '{"language":' }),
  event("response.function_call_arguments.delta", { ...ARGS, delta: '"es"}' }),
  event("response.function_call_arguments.done", { ...ARGS, arguments: '{"language":"es"}' }),
  itemDone(callItem()),
];
const ONE = ['set_language {"language":"es"}'];
const incomplete = (reason: string, output: readonly object[] = [message(SAID)]) =>
  ended("incomplete", { output, incomplete_details: { reason } });

export const RESPONSES: readonly Form[] = [
  { name: "words", body: said(), means: { text: SAID, usage: [5, 7] } },
  {
    name: "CRLF, and no space after data:",
    body: said().replaceAll("\n", "\r\n").replaceAll(": {", ":{"),
    means: { text: SAID },
  },
  { name: "the last event without a blank line", body: said().trimEnd(), means: { text: SAID } },
  {
    name: "the names of events outside their data only",
    body: said().replaceAll(/"type":"response\.[\w.]+",/g, ""),
    means: { text: SAID },
  },
  { name: "vLLM: the end mark after the end", body: said() + events("[DONE]"), means: { text: SAID } },
  {
    name: "events, items and parts that are unknown",
    body: said(event("brand.new"), added({ type: "brand_new", id: "x" }, 1), event("keepalive")),
    means: { text: SAID },
  },
  { name: "a null for an event", body: events(null) + said(), means: { text: SAID } },
  {
    name: "thoughts and their summary",
    body: named(
      CREATED,
      added({ type: "reasoning", id: "rs_1", summary: [] }, 1),
      event("response.reasoning_summary_text.delta", { item_id: "rs_1", output_index: 1, delta: "Secret." }),
      event("response.reasoning_text.delta", { item_id: "rs_1", output_index: 1, delta: "Secret." }),
      itemDone({ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Secret." }] }, 1),
      ...[...WORDS, ...DONE, COMPLETED],
    ),
    means: { text: SAID },
  },
  {
    name: "LM Studio: think tags",
    body: named(CREATED, text("<think>Secret.</thi"), text("nk>\n\nWe open at nine."), COMPLETED),
    means: { text: SAID },
  },
  {
    name: "words without places",
    body: named(CREATED, text("We open ", {}), text("at nine.", {}), ...DONE, COMPLETED),
    means: { text: SAID },
  },
  {
    name: "words by item alone, with other ids at the end",
    body: named(
      CREATED,
      text("We open ", { item_id: "a" }),
      text("at nine.", { item_id: "b" }),
      itemDone({ ...message(SAID), id: "c" }),
      COMPLETED,
    ),
    means: { text: SAID },
  },
  {
    name: "words only in the item that is done",
    body: named(CREATED, itemDone(message(SAID)), COMPLETED),
    means: { text: SAID },
  },
  {
    name: "words only in the response that is done",
    body: named(CREATED, COMPLETED),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "a response that is done without its output",
    body: named(CREATED, ...WORDS, event("response.completed", { response: null })),
    means: { text: SAID },
  },
  { name: "nothing after the words", body: named(CREATED, ...WORDS, ...DONE), means: { text: SAID, fails: CUT_OFF } },
  {
    name: "the longest answer",
    body: named(CREATED, ...WORDS, incomplete("max_output_tokens")),
    means: { text: SAID, partial: "max_output_tokens" },
  },
  {
    name: "the filter stops it",
    body: named(CREATED, ...WORDS, incomplete("content_filter")),
    means: { text: SAID, partial: "content_filter" },
  },
  {
    name: "an end that is incomplete without a reason",
    body: named(CREATED, ...WORDS, ended("incomplete", { incomplete_details: null })),
    means: { text: SAID, partial: "incomplete" },
  },
  {
    name: "an end that is cancelled",
    body: named(CREATED, ...WORDS, ended("cancelled")),
    means: { text: SAID, partial: "cancelled" },
  },
  {
    name: "the filter stops it before the first word",
    body: named(CREATED, incomplete("content_filter", [])),
    means: { fails: `${EMPTY}: content_filter` },
  },
  { name: "nothing to say", body: named(CREATED, ended("completed", { output: [] })), means: { fails: EMPTY } },
  {
    name: "a refusal",
    body: named(
      CREATED,
      event("response.refusal.delta", { ...AT, delta: "I can't." }),
      ended("completed", { output: [] }),
    ),
    means: { text: "I can't." },
  },
  {
    name: "an end that is failed",
    body: named(CREATED, ...WORDS, ended("failed", { error: { code: "server_error", message: "Overloaded" } })),
    means: { text: SAID, fails: "reported an error: Overloaded" },
  },
  {
    name: "an error in the middle",
    body: named(CREATED, ...WORDS, event("error", { code: "server_error", message: "Overloaded", param: null })),
    means: { text: SAID, fails: "reported an error: Overloaded" },
  },
  {
    name: "an error in an object",
    body: named(CREATED, event("error", { error: { message: "Overloaded" } })),
    means: { fails: "reported an error: Overloaded" },
  },
  {
    name: "a call in pieces",
    body: named(CREATED, ...CALL, ended("completed", { output: [callItem()] })),
    means: { calls: ONE },
  },
  {
    name: "a call in one piece",
    body: named(CREATED, itemDone(callItem()), ended("completed", { output: [callItem()] })),
    means: { calls: ONE },
  },
  {
    name: "a call whose pieces name its item only",
    body: named(
      CREATED,
      added(callItem(""), 3),
      event("response.function_call_arguments.delta", { item_id: "fc_1", delta: '{"language":"es"}' }),
      itemDone(callItem(), 3),
      COMPLETED,
    ),
    means: { calls: ONE },
  },
  {
    name: "a call whose arguments come with the response that is done",
    body: named(
      CREATED,
      added(callItem(""), 1),
      ended("completed", { output: [{ ...message(""), content: [] }, callItem()] }),
    ),
    means: { calls: ONE },
  },
  {
    name: "a call only in the response that is done",
    body: named(CREATED, ended("completed", { output: [callItem()] })),
    means: { calls: ONE },
  },
  {
    name: "a call whose arguments are an object, or null",
    body: named(
      CREATED,
      itemDone(callItem({ language: "es" })),
      itemDone({ ...callItem(null), id: "fc_2" }, 1),
      ended("completed", { output: [] }),
    ),
    means: { calls: [...ONE, "set_language {}"] },
  },
  {
    name: "words and a call",
    body: named(
      CREATED,
      ...WORDS,
      ...DONE,
      added({ ...callItem(""), id: "fc_2" }, 1),
      itemDone({ ...callItem(), id: "fc_2" }, 1),
      COMPLETED,
    ),
    means: { text: SAID, calls: ONE },
  },
  {
    name: "one JSON document",
    body: JSON.stringify({ ...HEAD, status: "completed", error: null, output: [message(SAID)], usage: USAGE }),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "one JSON document that is incomplete",
    body: JSON.stringify({
      ...HEAD,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [message(SAID)],
    }),
    means: { text: SAID, partial: "max_output_tokens" },
  },
  {
    name: "one JSON document that is failed",
    body: JSON.stringify({ ...HEAD, status: "failed", error: { code: "x", message: "Overloaded" }, output: [] }),
    means: { fails: "reported an error: Overloaded" },
  },
];
