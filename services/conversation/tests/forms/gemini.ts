import { CUT_OFF, EMPTY, events, type Form, SAID } from "./form.ts";

const USAGE = { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 };
const HEAD = { modelVersion: "gemini", responseId: "resp_1" };

function response(parts: readonly object[] | null, finishReason?: string, more: object = { usageMetadata: USAGE }) {
  const content = parts && { content: { role: "model", parts } };
  return { candidates: [{ index: 0, ...content, ...(finishReason && { finishReason }) }], ...more, ...HEAD };
}
const WORDS = [response([{ text: "We open " }]), response([{ text: "at nine." }])];
const STOP = response([{ text: "" }], "STOP");
const said = (...between: readonly unknown[]) => events(WORDS[0], ...between, WORDS[1], STOP);
const call = (name: string, args?: object) => ({ functionCall: { name, ...(args && { args }) } });
const ONE = ['set_language {"language":"es"}'];

export const GEMINI: readonly Form[] = [
  { name: "words", body: said(), means: { text: SAID, usage: [5, 7] } },
  { name: "CRLF", body: said().replaceAll("\n", "\r\n"), means: { text: SAID } },
  { name: "the last event without a blank line", body: said().trimEnd(), means: { text: SAID } },
  {
    name: "the reason with the last words",
    body: events(WORDS[0], response([{ text: "at nine." }], "STOP")),
    means: { text: SAID },
  },
  { name: "a reason without content", body: events(...WORDS, response(null, "STOP")), means: { text: SAID } },
  {
    name: "an empty content, and events without candidates",
    body: said({ usageMetadata: USAGE }, { candidates: [{ content: {} }] }, {}, null),
    means: { text: SAID },
  },
  {
    name: "the unspecified reason is none",
    body: events(
      ...WORDS.map((each) => ({
        ...each,
        candidates: [{ ...each.candidates[0], finishReason: "FINISH_REASON_UNSPECIFIED" }],
      })),
    ),
    means: { text: SAID, fails: CUT_OFF },
  },
  { name: "nothing after the words", body: events(...WORDS), means: { text: SAID, fails: CUT_OFF } },
  {
    name: "thoughts",
    body: said(response([{ text: "Secret.", thought: true, thoughtSignature: "c2ln" }])),
    means: { text: SAID },
  },
  {
    name: "code, its result, an image and a part that is unknown",
    body: said(
      response([{ executableCode: { language: "PYTHON", code: "print(1)" } }]),
      response([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }]),
      response([{ inlineData: { mimeType: "image/png", data: "eA==" } }, { brandNew: { x: 1 } }]),
    ),
    means: { text: SAID },
  },
  {
    name: "the longest answer",
    body: events(...WORDS, response(null, "MAX_TOKENS")),
    means: { text: SAID, partial: "MAX_TOKENS" },
  },
  {
    name: "a block for safety in the middle",
    body: events(...WORDS, response(null, "SAFETY", { safetyRatings: [] })),
    means: { text: SAID, partial: "SAFETY" },
  },
  {
    name: "a reason that nobody knows yet",
    body: events(...WORDS, response(null, "BRAND_NEW")),
    means: { text: SAID, partial: "BRAND_NEW" },
  },
  {
    name: "a block for safety before the first word",
    body: events(response(null, "SAFETY")),
    means: { fails: `${EMPTY}: SAFETY` },
  },
  {
    name: "a prompt that is blocked",
    body: events({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 5 },
    }).replaceAll("\n", "\r\n"),
    means: { fails: `${EMPTY}: PROHIBITED_CONTENT` },
  },
  {
    name: "only thoughts, up to the longest answer",
    body: events(response([{ text: "Secret.", thought: true }], "MAX_TOKENS")),
    means: { fails: `${EMPTY}: MAX_TOKENS` },
  },
  { name: "nothing to say", body: events(STOP), means: { fails: EMPTY } },
  {
    name: "a call that is malformed",
    body: events(response(null, "MALFORMED_FUNCTION_CALL")),
    means: { fails: `${EMPTY}: MALFORMED_FUNCTION_CALL` },
  },
  {
    name: "an error in the middle",
    body: events(...WORDS, { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } }),
    means: { text: SAID, fails: "reported an error: Overloaded" },
  },
  { name: "a call", body: events(response([call("set_language", { language: "es" })], "STOP")), means: { calls: ONE } },
  {
    name: "calls of one tool, and one without arguments",
    body: events(
      response(
        [call("set_language", { language: "es" }), call("set_language", { language: "fr" }), call("end_call")],
        "STOP",
      ),
    ),
    means: { calls: [...ONE, 'set_language {"language":"fr"}', "end_call {}"] },
  },
  {
    name: "thoughts in the counts",
    body: events(
      ...WORDS,
      response(null, "STOP", {
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 4 },
      }),
    ),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "one JSON document",
    body: JSON.stringify(response([{ text: SAID }], "STOP")),
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "a stream as one JSON list",
    body: `[${[...WORDS, STOP].map((each) => JSON.stringify(each)).join("\n,\r\n")}]`,
    means: { text: SAID, usage: [5, 7] },
  },
  {
    name: "an error as one JSON list",
    body: '[{"error":{"code":503,"message":"Overloaded"}}]',
    means: { fails: "reported an error: Overloaded" },
  },
];
