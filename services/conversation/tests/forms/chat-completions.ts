import { CUT_OFF, EMPTY, events, type Form, SAID, UNREADABLE } from "./form.ts";

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
const DONE = "[DONE]";
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

function chunk(delta: object | null, finish_reason: unknown = null, more: object = {}) {
  return { ...HEAD, choices: [{ index: 0, delta, finish_reason }], ...more };
}
const ROLE = chunk({ role: "assistant", content: "" });
const WORDS = [chunk({ content: "We open " }), chunk({ content: "at nine." })];
const STOP = chunk({}, "stop");
const said = (...between: readonly unknown[]) => events(ROLE, WORDS[0], ...between, WORDS[1], STOP, DONE);
const saying = (...contents: readonly string[]) => contents.map((content) => chunk({ content }));
const calling = (...pieces: readonly object[]) => pieces.map((piece) => chunk({ tool_calls: [piece] }));
const whole = (message: object, more: object = {}) =>
  JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }],
    usage: USAGE,
  });

const SPANISH = '{"language":"es"}';
const SET = { name: "set_language", arguments: SPANISH };
const END = { name: "end_call", arguments: '{"message":"Adios"}' };
const BOTH = [`set_language ${SPANISH}`, 'end_call {"message":"Adios"}'];
const ONE = [`set_language ${SPANISH}`];

/** How the stream is written down. */
const FRAMING: readonly Form[] = [
  { name: "OpenAI: a role, words, a reason and the end", body: said(), means: { text: SAID } },
  { name: "any: CRLF at the ends of lines", body: said().replaceAll("\n", "\r\n"), means: { text: SAID } },
  { name: "any: CR at the ends of lines", body: said().replaceAll("\n", "\r"), means: { text: SAID } },
  { name: "LM Studio: no space after data:", body: said().replaceAll("data: ", "data:"), means: { text: SAID } },
  { name: "any: a byte order mark first", body: `\ufeff${said()}`, means: { text: SAID } },
  { name: "DeepSeek: blank lines before the stream", body: `\n\n\n${said()}`, means: { text: SAID } },
  {
    name: "OpenRouter: comments while it waits",
    body: `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${said()}`,
    means: { text: SAID },
  },
  {
    name: "any: comments, names, ids and retries between the events",
    body: said().replaceAll("data: ", ": keep-alive\nevent: message\nid: 1\nretry: 10\ndata: "),
    means: { text: SAID },
  },
  {
    name: "any: the data of an event in many lines",
    body: `data: {"choices":\ndata: [{"delta":{"content":"We open at nine."},\ndata: "finish_reason":"stop"}]}\n\n`,
    means: { text: SAID },
  },
  { name: "any: events without data, or with words", body: said("", "ping", "keep-alive"), means: { text: SAID } },
  { name: "any: the end mark as a JSON string", body: events(...WORDS, '"[DONE]"'), means: { text: SAID } },
  { name: "any: the end mark in lower case", body: events(...WORDS, "[done]"), means: { text: SAID } },
  { name: "any: no blank lines between the events", body: said().replaceAll("\n\n", "\n"), means: { text: SAID } },
  { name: "any: the end mark with spaces", body: events(...WORDS, "  [DONE] "), means: { text: SAID } },
  {
    name: "llama.cpp: the last event without a blank line",
    body: events(ROLE, ...WORDS, STOP).trimEnd(),
    means: { text: SAID },
  },
  {
    name: "llama.cpp: the last event without a blank line, with CR",
    body: `${events(ROLE, ...WORDS, STOP).trimEnd()}\r`,
    means: { text: SAID },
  },
  { name: "any: the end mark without a blank line", body: `${events(...WORDS)}data: [DONE]`, means: { text: SAID } },
  { name: "any: events after the end mark", body: `${said()}${events(...WORDS)}`, means: { text: SAID } },
];

/** What has no words. */
const NOTHING: readonly Form[] = [
  { name: "any: null for an event", body: said(null, "null"), means: { text: SAID } },
  { name: "any: values that are no objects", body: said(1, true, '"text"', []), means: { text: SAID } },
  { name: "any: an object that is empty", body: said({}), means: { text: SAID } },
  {
    name: "Azure: the results of the prompt's filter first, without a choice",
    body: events(
      { ...HEAD, model: "", choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
      ...[ROLE, ...WORDS, STOP, DONE],
    ),
    means: { text: SAID },
  },
  {
    name: "Azure: the results of the answer's filter in choices without a delta",
    body: said({ ...HEAD, choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 1 } }] }),
    means: { text: SAID },
  },
  { name: "any: a delta that is null", body: said(chunk(null)), means: { text: SAID } },
  {
    name: "any: content that is null, with what is unknown",
    body: said(chunk({ content: null, annotations: [], audio: null, brand_new: { x: 1 } })),
    means: { text: SAID },
  },
  {
    name: "any: deltas and choices of other types",
    body: said(chunk("x" as never), { ...HEAD, choices: "x" }, { ...HEAD, choices: [null] }, chunk({ content: 1 })),
    means: { text: SAID },
  },
  {
    name: "OpenAI: a usage event without choices in it",
    body: events(ROLE, ...WORDS, STOP, { ...HEAD, choices: [], usage: USAGE }, DONE),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "any: a usage event whose choices are null",
    body: events(ROLE, ...WORDS, STOP, { ...HEAD, choices: null, usage: USAGE }, DONE),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "any: a usage event that has no choices",
    body: events(ROLE, ...WORDS, STOP, { ...HEAD, usage: USAGE }, DONE),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "any: a usage event first, and one between the words",
    body: events({ ...HEAD, usage: USAGE }, WORDS[0], { ...HEAD, choices: [], usage: null }, WORDS[1], STOP, DONE),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "vLLM: a growing usage in each event",
    body: events(
      chunk({ content: "We open " }, null, { usage: { prompt_tokens: 5, completion_tokens: 2 } }),
      chunk({ content: "at nine." }, "stop", { usage: { prompt_tokens: 5, completion_tokens: 7 } }),
      DONE,
    ),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "Groq: the usage in a field of its own",
    body: events(...WORDS, chunk({}, "stop", { x_groq: { id: "req_1", usage: USAGE } }), DONE),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "Moonshot: the usage in the choice",
    body: events(...WORDS, { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: USAGE }] }, DONE),
    means: { text: SAID, usage: [5, 7] },
  },
];

/** What ends a stream. */
const ENDS: readonly Form[] = [
  { name: "any: the end mark and no reason", body: events(ROLE, ...WORDS, DONE), means: { text: SAID } },
  { name: "Gemini's proxy: a reason and no end mark", body: events(ROLE, ...WORDS, STOP), means: { text: SAID } },
  {
    name: "any: the reason with the last words",
    body: events(WORDS[0], chunk({ content: "at nine." }, "stop"), DONE),
    means: { text: SAID },
  },
  {
    name: "any: empty reasons, then the end mark",
    body: events(chunk({ content: "We open " }, ""), chunk({ content: "at nine." }, ""), DONE),
    means: { text: SAID },
  },
  {
    name: "any: empty reasons, then nothing",
    body: events(chunk({ content: "We open " }, ""), chunk({ content: "at nine." }, "")),
    means: { text: SAID, fails: CUT_OFF },
  },
  {
    name: "DashScope: the word null for no reason, then nothing",
    body: events(chunk({ content: "We open " }, "null"), chunk({ content: "at nine." }, "null")),
    means: { text: SAID, fails: CUT_OFF },
  },
  { name: "any: words, then nothing", body: events(ROLE, ...WORDS), means: { text: SAID, fails: CUT_OFF } },
  {
    name: "any: an event that is cut in the middle",
    body: `${events(ROLE, ...WORDS)}data: {"choices":[{"delta":{"con`,
    means: { text: SAID, fails: CUT_OFF },
  },
  { name: "TGI: a reason of its own", body: events(...WORDS, chunk({}, "eos_token"), DONE), means: { text: SAID } },
  { name: "Cohere: a reason in capitals", body: events(...WORDS, chunk({}, "COMPLETE"), DONE), means: { text: SAID } },
  {
    name: "any: the longest answer",
    body: events(...WORDS, chunk({}, "length"), DONE),
    means: { text: SAID, partial: "length" },
  },
  {
    name: "Azure: the filter stops it",
    body: events(...WORDS, chunk({}, "content_filter"), DONE),
    means: { text: SAID, partial: "content_filter" },
  },
  {
    name: "DeepSeek: no capacity",
    body: events(...WORDS, chunk({}, "insufficient_system_resource"), DONE),
    means: { text: SAID, partial: "insufficient_system_resource" },
  },
  {
    name: "any: a reason that nobody knows yet",
    body: events(...WORDS, chunk({}, "brand_new"), DONE),
    means: { text: SAID, partial: "brand_new" },
  },
  {
    name: "any: a stop, then the filter",
    body: events(...WORDS, STOP, chunk({}, "content_filter"), DONE),
    means: { text: SAID, partial: "content_filter" },
  },
];

/** Answers that are none. */
const FAILURES: readonly Form[] = [
  { name: "any: an empty body", body: "", means: { fails: UNREADABLE } },
  { name: "a proxy: a page", body: "<html><body>Welcome</body></html>", means: { fails: UNREADABLE } },
  { name: "any: events that cannot be read", body: events(ROLE, "{oops"), means: { fails: UNREADABLE } },
  {
    name: "Azure: the filter stops it before the first word",
    body: events(chunk({ role: "assistant" }), chunk({}, "content_filter"), DONE),
    means: { fails: `${EMPTY}: content_filter` },
  },
  { name: "vLLM: nothing but the end", body: events(ROLE, STOP, DONE), means: { fails: EMPTY } },
  { name: "any: nothing but the end mark", body: events(DONE), means: { fails: EMPTY } },
  { name: "any: white space", body: events(...saying(" ", "\n\n"), STOP, DONE), means: { fails: EMPTY } },
  {
    name: "OpenRouter: an error in the middle",
    body: events(...WORDS, {
      ...HEAD,
      error: { code: 502, message: "Provider returned error", metadata: { raw: "overloaded" } },
      choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
    }),
    means: { text: SAID, fails: "reported an error: Provider returned error: overloaded" },
  },
  {
    name: "OpenAI: an error first",
    body: events({ error: { message: "The server had an error", type: "server_error", code: null } }),
    means: { fails: "reported an error: The server had an error" },
  },
  {
    name: "vLLM: an error that is the event",
    body: events({ object: "error", message: "Input too long", type: "BadRequestError", code: 400 }, DONE),
    means: { fails: "reported an error: Input too long" },
  },
  {
    name: "any: an event whose name is error",
    body: `${events(...WORDS)}event: error\ndata: {"message":"Out of memory"}\n\n`,
    means: { text: SAID, fails: "reported an error: Out of memory" },
  },
  {
    name: "llama.cpp: an error in a field of its own",
    body: `${events(...WORDS)}error: {"code":500,"message":"Slot unavailable","type":"server_error"}\n\n`,
    means: { text: SAID, fails: "reported an error: Slot unavailable" },
  },
  {
    name: "Ollama: an error in words",
    body: events({ error: "model requires more memory" }),
    means: { fails: "reported an error: model requires more memory" },
  },
  {
    name: "Mistral: an error for a reason",
    body: events(...WORDS, chunk({}, "error"), DONE),
    means: { text: SAID, fails: "reported an error" },
  },
  {
    name: "any: a JSON error where a stream was asked for",
    body: '{"error":{"message":"No slot"}}',
    means: { fails: "reported an error: No slot" },
  },
];

/** Thoughts, and other content that is not the reply. */
const THOUGHTS: readonly Form[] = [
  {
    name: "DeepSeek: reasoning_content",
    body: events(chunk({ role: "assistant", content: null, reasoning_content: "Secret." }), ...WORDS, STOP, DONE),
    means: { text: SAID },
  },
  {
    name: "Ollama, OpenRouter: reasoning",
    body: events(
      chunk({ content: "", reasoning: "Secret.", reasoning_details: [{ text: "Secret." }] }),
      ...WORDS,
      STOP,
      DONE,
    ),
    means: { text: SAID },
  },
  {
    name: "Mistral: thoughts among the parts of the content",
    body: events(
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Secret." }] }] }),
      chunk({
        content: [
          { type: "text", text: "We open " },
          { type: "reference", reference_ids: [1] },
        ],
      }),
      ...[WORDS[1], STOP, DONE],
    ),
    means: { text: SAID },
  },
  {
    name: "LM Studio: think tags",
    body: events(
      ...saying("<think>", "The user asks. Secret: ", "never on Sunday.</think>\n\nWe open ", "at nine."),
      STOP,
      DONE,
    ),
    means: { text: SAID },
  },
  {
    name: "Qwen: think tags with nothing in them",
    body: events(...saying("<think>\n\n</think>\n\n", "We open at nine."), STOP, DONE),
    means: { text: SAID },
  },
  {
    name: "any: think tags in pieces, after white space",
    body: events(
      ...saying("\n", " <", "thi", "nk>Sec", "ret.<", "/thi", "nk", ">", "\n", "We open at nine."),
      STOP,
      DONE,
    ),
    means: { text: SAID },
  },
  {
    name: "any: thinking tags in capitals, two of them",
    body: events(...saying("<Thinking>A</Thinking>", "<THINK>B</THINK>We open at nine."), STOP, DONE),
    means: { text: SAID },
  },
  {
    name: "Magistral: think tags in brackets",
    body: events(...saying("[THINK]Secret.[/THINK]We open at nine."), STOP, DONE),
    means: { text: SAID },
  },
  {
    name: "gpt-oss: channels that its server does not know",
    body: events(
      ...saying(
        "<|channel|>analysis<|message|>Secret.<|end|><|start|>assistant<|channel|>",
        "final<|message|>We open at nine.",
      ),
      STOP,
      DONE,
    ),
    means: { text: SAID },
  },
  {
    name: "Kimi: think tags of its own",
    body: events(...saying("◁think▷Secret.◁/th", "ink▷We open at nine."), STOP, DONE),
    means: { text: SAID },
  },
  {
    name: "any: a think tag that is never closed",
    body: events(...saying("<think>", "Secret, and no more."), STOP, DONE),
    means: { fails: EMPTY },
  },
  {
    name: "any: thoughts up to the longest answer",
    body: events(...saying("<think>", "Secret."), chunk({}, "length"), DONE),
    means: { fails: `${EMPTY}: length` },
  },
  {
    name: "any: words that begin like a tag",
    body: events(...saying("<thi", "s> is it."), STOP, DONE),
    means: { text: "<this> is it." },
  },
  { name: "any: nothing but the beginning of a tag", body: events(...saying("<"), STOP, DONE), means: { text: "<" } },
  {
    name: "any: a tag in the middle",
    body: events(...saying("Write <think>", "x</think>."), STOP, DONE),
    means: { text: "Write <think>x</think>." },
  },
  {
    name: "any: thoughts, then a call",
    body: events(
      ...saying("<think>Secret.</think>\n"),
      ...calling({ index: 0, id: "a", function: SET }),
      chunk({}, "tool_calls"),
      DONE,
    ),
    means: { calls: ONE },
  },
  {
    name: "OpenAI: a refusal",
    body: events(chunk({ role: "assistant", content: null, refusal: "" }), chunk({ refusal: "I can't." }), STOP, DONE),
    means: { text: "I can't." },
  },
];

const ended = (...chunks: readonly object[]) => events(ROLE, ...chunks, chunk({}, "tool_calls"), DONE);

/** Tool calls. */
const CALLS: readonly Form[] = [
  {
    name: "OpenAI: calls in pieces",
    body: ended(
      ...calling(
        { index: 0, id: "call_a", type: "function", function: { name: "set_language", arguments: "" } },
        ...[
          { index: 0, function: { arguments: '{"lang' } },
          { index: 0, function: { arguments: 'uage":"es"}' } },
        ],
        { index: 1, id: "call_b", type: "function", function: { name: "end_call", arguments: "" } },
        { index: 1, function: { arguments: '{"message":"Adios"}' } },
      ),
    ),
    means: { calls: BOTH },
  },
  {
    name: "any: pieces of two calls in turn",
    body: ended(
      ...calling(
        { index: 0, id: "a", function: { name: "set_language", arguments: '{"language"' } },
        { index: 1, id: "b", function: { name: "end_call", arguments: '{"message"' } },
        { index: 0, function: { arguments: ':"es"}' } },
        { index: 1, function: { arguments: ':"Adios"}' } },
      ),
    ),
    means: { calls: BOTH },
  },
  {
    name: "Gemini's proxy: whole calls that are all number 0",
    body: ended(...calling({ index: 0, id: "a", function: SET }, { index: 0, id: "b", function: END })),
    means: { calls: BOTH },
  },
  {
    name: "any: calls in pieces that are all number 0",
    body: ended(
      ...calling(
        ...[
          { index: 0, id: "a", function: { name: "set_language" } },
          { index: 0, function: { arguments: SPANISH } },
        ],
        { index: 0, id: "b", function: { name: "end_call", arguments: null } },
        ...[
          { index: 0, function: { arguments: '{"message":' } },
          { index: 0, function: { arguments: '"Adios"}' } },
        ],
      ),
    ),
    means: { calls: BOTH },
  },
  {
    name: "any: whole calls without numbers",
    body: ended(
      chunk({
        tool_calls: [
          { id: "a", function: SET },
          { id: "b", function: END },
        ],
      }),
    ),
    means: { calls: BOTH },
  },
  {
    name: "Ollama: whole calls without numbers and ids",
    body: ended(chunk({ tool_calls: [{ function: SET }, { function: END }] })),
    means: { calls: BOTH },
  },
  {
    name: "any: whole calls that are all number 0, with empty ids",
    body: ended(...calling({ index: 0, id: "", function: SET }, { index: 0, id: null, function: END })),
    means: { calls: BOTH },
  },
  {
    name: "any: whole calls with the same id",
    body: ended(...calling({ index: 0, id: "call", function: SET }, { index: 1, id: "call", function: END })),
    means: { calls: BOTH },
  },
  {
    name: "any: whole calls of one tool without ids",
    body: ended(
      ...calling(
        { index: 0, function: SET },
        { index: 0, function: { name: "set_language", arguments: '{"language":"fr"}' } },
      ),
    ),
    means: { calls: [...ONE, 'set_language {"language":"fr"}'] },
  },
  {
    name: "vLLM: an id of its own for each piece",
    body: ended(
      ...calling(
        { index: 0, id: "a1", function: { name: "set_language", arguments: "" } },
        ...[
          { index: 0, id: "a2", function: { arguments: '{"language"' } },
          { index: 0, id: "a3", function: { arguments: ':"es"}' } },
        ],
      ),
    ),
    means: { calls: ONE },
  },
  {
    name: "any: the id and the name with each piece",
    body: ended(
      ...calling(
        ...['{"language"', ":", '"es"}', ""].map((piece) => ({
          index: 0,
          id: "a",
          function: { name: "set_language", arguments: piece },
        })),
      ),
    ),
    means: { calls: ONE },
  },
  {
    name: "any: the id first, then the name, then the arguments",
    body: ended(
      ...calling(
        ...[
          { index: 0, id: "a" },
          { index: 0, function: { name: "set_language" } },
        ],
        { index: 0, function: { arguments: SPANISH } },
      ),
    ),
    means: { calls: ONE },
  },
  {
    name: "any: pieces by their ids alone",
    body: ended(
      ...calling(
        { id: "a", function: { name: "set_language", arguments: '{"language"' } },
        { id: "b", function: { name: "end_call", arguments: '{"message"' } },
        { id: "a", function: { arguments: ':"es"}' } },
        { id: "b", function: { arguments: ':"Adios"}' } },
      ),
    ),
    means: { calls: BOTH },
  },
  {
    name: "any: a whole call that is sent twice",
    body: ended(...calling({ index: 0, id: "a", function: SET }, { index: 0, id: "a", function: SET })),
    means: { calls: ONE },
  },
  {
    name: "any: the same call with two ids",
    body: ended(...calling({ index: 0, id: "a", function: SET }, { index: 0, id: "b", function: SET })),
    means: { calls: [...ONE, ...ONE] },
  },
  {
    name: "any: an empty object before the arguments",
    body: ended(
      ...calling(
        { index: 0, id: "a", function: { name: "set_language", arguments: "{}" } },
        ...[
          { index: 0, function: { arguments: SPANISH.slice(0, 5) } },
          { index: 0, function: { arguments: SPANISH.slice(5) } },
        ],
      ),
    ),
    means: { calls: ONE },
  },
  {
    name: "any: arguments that are an object",
    body: ended(...calling({ index: 0, id: "a", function: { name: "set_language", arguments: { language: "es" } } })),
    means: { calls: ONE },
  },
  {
    name: "any: arguments that are null, left out, empty, or the words for them",
    body: ended(
      chunk({
        tool_calls: [null, undefined, "", "null", "[]", " "].map((given, index) => ({
          index,
          id: `c${index}`,
          function: { name: "end_call", arguments: given },
        })),
      }),
    ),
    means: { calls: new Array(6).fill("end_call {}") },
  },
  {
    name: "any: a call without a function around its name",
    body: ended(...calling({ index: 0, id: "a", ...SET })),
    means: { calls: ONE },
  },
  {
    name: "any: a call that is no list",
    body: ended(chunk({ tool_calls: { index: 0, id: "a", function: SET } })),
    means: { calls: ONE },
  },
  {
    name: "any: a call in the older form",
    body: events(
      chunk({ function_call: { name: "set_language", arguments: "" } }),
      chunk({ function_call: { arguments: SPANISH } }),
      ...[chunk({}, "function_call"), DONE],
    ),
    means: { calls: ONE },
  },
  {
    name: "llama.cpp: a call that ends with stop",
    body: events(...calling({ index: 0, id: "a", function: SET }), STOP, DONE),
    means: { calls: ONE },
  },
  {
    name: "any: a call without a name",
    body: ended(...calling({ index: 0, id: "a", function: { arguments: "{}" } })),
    means: { fails: EMPTY },
  },
  {
    name: "any: calls that are null or empty",
    body: said(chunk({ tool_calls: null }), chunk({ tool_calls: [] })),
    means: { text: SAID },
  },
  {
    name: "any: words and a call",
    body: ended(...WORDS, ...calling({ index: 0, id: "a", function: SET })),
    means: { text: SAID, calls: ONE },
  },
];

/** Whole answers, whatever was asked for. */
const WHOLE: readonly Form[] = [
  { name: "any: one JSON document", body: whole({ content: SAID }), means: { text: SAID, usage: [5, 7] } },
  {
    name: "any: one JSON document after white space",
    body: `\n  \n${whole({ content: SAID })}\n`,
    means: { text: SAID },
  },
  {
    name: "any: one JSON document without a reason",
    body: whole({ content: SAID }, { finish_reason: null }),
    means: { text: SAID },
  },
  {
    name: "any: one JSON document that was cut short",
    body: whole({ content: SAID }, { finish_reason: "length" }),
    means: { text: SAID, partial: "length" },
  },
  {
    name: "any: one JSON document with calls",
    body: whole(
      {
        content: null,
        tool_calls: [
          { id: "a", function: SET },
          { id: "a", function: END },
        ],
      },
      { finish_reason: "tool_calls" },
    ),
    means: { calls: BOTH },
  },
  {
    name: "any: one JSON document with thoughts",
    body: whole({ content: `<think>Secret.</think>\n\n${SAID}` }),
    means: { text: SAID },
  },
  { name: "any: one JSON document without words", body: whole({ content: "" }), means: { fails: EMPTY } },
  { name: "any: one JSON document without choices", body: '{"id":"x","choices":[]}', means: { fails: UNREADABLE } },
  { name: "any: another JSON document", body: "[1]", means: { fails: UNREADABLE } },
  {
    name: "any: a JSON document that is cut",
    body: whole({ content: SAID }).slice(0, -20),
    means: { fails: UNREADABLE },
  },
  {
    name: "any: the whole answer as an event",
    body: events(JSON.parse(whole({ content: SAID })), DONE),
    means: { text: SAID },
  },
  {
    name: "any: the whole answer as an event after its words",
    body: events(...WORDS, JSON.parse(whole({ content: SAID })), DONE),
    means: { text: SAID },
  },
];

export const CHAT_COMPLETIONS: readonly Form[] = [
  ...FRAMING,
  ...NOTHING,
  ...ENDS,
  ...FAILURES,
  ...THOUGHTS,
  ...CALLS,
  ...WHOLE,
];
