import { CUT_OFF, EMPTY, events, type Form, named, SAID } from "./form.ts";

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: null };
const START = {
  type: "message_start",
  message: { ...MESSAGE, content: [], usage: { input_tokens: 5, output_tokens: 1 } },
};
const STOP = { type: "message_stop" };
const open = (content_block: object, index = 0) => ({ type: "content_block_start", index, content_block });
const delta = (given: object, index = 0) => ({ type: "content_block_delta", index, delta: given });
const close = (index = 0) => ({ type: "content_block_stop", index });
const end = (stop_reason: string | null, usage: object = { output_tokens: 7 }) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const words = (index = 0) => [
  open({ type: "text", text: "" }, index),
  delta({ type: "text_delta", text: "We open " }, index),
  delta({ type: "text_delta", text: "at nine." }, index),
  close(index),
];
const said = (...before: readonly { type: string }[]) => named(START, ...before, ...words(1), end("end_turn"), STOP);
const call = [
  open({ type: "tool_use", id: "toolu_1", name: "set_language", input: {} }),
  delta({ type: "input_json_delta", partial_json: "" }),
  delta({ type: "input_json_delta", partial_json: '{"language":' }),
  delta({ type: "input_json_delta", partial_json: '"es"}' }),
  close(),
];
const ONE = ['set_language {"language":"es"}'];
const whole = (content: readonly object[], stop_reason = "end_turn") =>
  JSON.stringify({ ...MESSAGE, content, stop_reason, usage: { input_tokens: 5, output_tokens: 7 } });

export const ANTHROPIC: readonly Form[] = [
  { name: "words", body: said(), means: { text: SAID, usage: [5, 7] } },
  {
    name: "CRLF, and no space after data:",
    body: said().replaceAll("\n", "\r\n").replaceAll(": {", ":{"),
    means: { text: SAID },
  },
  { name: "the last event without a blank line", body: said().trimEnd(), means: { text: SAID } },
  {
    name: "the names of events outside their data only",
    body: said().replaceAll(/"type":"(message_|content_)\w+",?/g, ""),
    means: { text: SAID },
  },
  {
    name: "pings, events and fields that are unknown",
    body: said({ type: "ping" }, { type: "brand_new" }),
    means: { text: SAID },
  },
  {
    name: "a delta that is unknown",
    body: said(open({ type: "text", text: "" }), delta({ type: "brand_new_delta", x: 1 })),
    means: { text: SAID },
  },
  {
    name: "a block that is unknown, with its deltas",
    body: said(open({ type: "brand_new", text: "x" }), delta({ type: "input_json_delta", partial_json: "{" }), close()),
    means: { text: SAID },
  },
  {
    name: "thoughts, also secret ones",
    body: said(
      open({ type: "thinking", thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking: "Secret." }),
      delta({ type: "signature_delta", signature: "c2ln" }),
      ...[close(), open({ type: "redacted_thinking", data: "x" }), close()],
    ),
    means: { text: SAID },
  },
  {
    name: "a tool of the provider's own",
    body: said(
      open({ type: "server_tool_use", id: "srv_1", name: "web_search", input: {} }),
      delta({ type: "input_json_delta", partial_json: '{"query":"x"}' }),
      ...[close(), open({ type: "web_search_tool_result", tool_use_id: "srv_1", content: [] }), close()],
    ),
    means: { text: SAID },
  },
  {
    name: "citations",
    body: said(open({ type: "text", text: "" }), delta({ type: "citations_delta", citation: {} })),
    means: { text: SAID },
  },
  {
    name: "the first words in the beginning of their block",
    body: named(
      START,
      open({ type: "text", text: "We open " }),
      delta({ type: "text_delta", text: "at nine." }),
      end("end_turn"),
      STOP,
    ),
    means: { text: SAID },
  },
  { name: "a null for an event", body: events(null) + said(), means: { text: SAID } },
  { name: "the end of the message without a reason", body: named(START, ...words(), STOP), means: { text: SAID } },
  {
    name: "a reason and no end of the message",
    body: named(START, ...words(), end("stop_sequence")),
    means: { text: SAID },
  },
  { name: "nothing after the words", body: named(START, ...words()), means: { text: SAID, fails: CUT_OFF } },
  {
    name: "the longest answer",
    body: named(START, ...words(), end("max_tokens"), STOP),
    means: { text: SAID, partial: "max_tokens" },
  },
  {
    name: "a refusal in the middle",
    body: named(START, ...words(), end("refusal"), STOP),
    means: { text: SAID, partial: "refusal" },
  },
  {
    name: "a refusal before the first word",
    body: named(START, end("refusal"), STOP),
    means: { fails: `${EMPTY}: refusal` },
  },
  { name: "nothing to say", body: named(START, end("end_turn"), STOP), means: { fails: EMPTY } },
  {
    name: "an error in the middle",
    body: named(START, ...words(), {
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    } as never),
    means: { text: SAID, fails: "reported an error: Overloaded" },
  },
  { name: "a call", body: named(START, ...call, end("tool_use"), STOP), means: { calls: ONE } },
  {
    name: "words and a call",
    body: named(START, ...words(1), ...call, end("tool_use"), STOP),
    means: { text: SAID, calls: ONE },
  },
  {
    name: "a call that is whole at its beginning, and one without arguments",
    body: named(
      START,
      open({ type: "tool_use", id: "a", name: "set_language", input: { language: "es" } }),
      ...[
        close(),
        open({ type: "tool_use", id: "b", name: "end_call", input: {} }, 1),
        close(1),
        end("tool_use"),
        STOP,
      ],
    ),
    means: { calls: [...ONE, "end_call {}"] },
  },
  {
    name: "counts with what the cache had, more than once",
    body: named(
      {
        type: "message_start",
        message: {
          ...MESSAGE,
          usage: { input_tokens: 2, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 0 },
        },
      } as never,
      ...words(),
      end("end_turn", {
        input_tokens: 2,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 1,
        output_tokens: 7,
      }),
      STOP,
    ),
    means: { text: SAID, usage: [5, 7] },
  },
  { name: "one JSON document", body: whole([{ type: "text", text: SAID }]), means: { text: SAID, usage: [5, 7] } },
  {
    name: "one JSON document with thoughts and a call",
    body: whole(
      [
        { type: "thinking", thinking: "Secret." },
        { type: "tool_use", id: "a", name: "set_language", input: { language: "es" } },
      ],
      "tool_use",
    ),
    means: { calls: ONE },
  },
];
