import { type AnswerShapes, type Dialect, type End, INPUT_TOKENS, OUTPUT_TOKENS, textOf } from "./dialect.ts";

/** https://docs.anthropic.com/en/api/messages */
export const anthropic: Dialect = {
  error: { type: "error", error: { type: "overloaded_error", message: "secret" } },
  answer(): AnswerShapes {
    let blocks = 0;
    let opened = false;
    let inText = false;
    const open = () => {
      if (opened) return [];
      opened = true;
      const usage = { input_tokens: INPUT_TOKENS, output_tokens: 1 };
      return [{ type: "message_start", message: { ...HEAD, content: [], stop_reason: null, usage } }];
    };
    const closeText = () => {
      if (!inText) return [];
      inText = false;
      return [{ type: "content_block_stop", index: blocks - 1 }];
    };
    return {
      piece(text) {
        const opening: unknown[] = open();
        if (!inText) {
          inText = true;
          opening.push({ type: "content_block_start", index: blocks++, content_block: { type: "text", text: "" } });
        }
        const delta = { type: "text_delta", text };
        return [...opening, { type: "content_block_delta", index: blocks - 1, delta }];
      },
      toolCall(name, input) {
        const opening = [...open(), ...closeText()];
        const index = blocks++;
        const block = { type: "tool_use", id: `toolu_${index}`, name, input: {} };
        const delta = { type: "input_json_delta", partial_json: input };
        return [
          ...opening,
          { type: "content_block_start", index, content_block: block },
          { type: "content_block_delta", index, delta },
          { type: "content_block_stop", index },
        ];
      },
      // An answer without a reason for its end has no event for it.
      end(reason) {
        if (reason === null) return closeText();
        const delta = { stop_reason: stopReason(reason), stop_sequence: null };
        return [
          ...open(),
          ...closeText(),
          { type: "message_delta", delta, usage: { output_tokens: OUTPUT_TOKENS } },
          { type: "message_stop" },
        ];
      },
      whole: (text, calls, reason) => ({
        ...HEAD,
        content: [
          ...(text === "" ? [] : [{ type: "text", text }]),
          ...calls.map(({ name, input }, at) => ({
            type: "tool_use",
            id: `toolu_${at}`,
            name,
            input: JSON.parse(input),
          })),
        ],
        stop_reason: stopReason(reason),
        stop_sequence: null,
        usage: { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS },
      }),
    };
  },
  read({ headers, body }) {
    return {
      key: String(headers["x-api-key"]),
      model: body.model,
      isStream: body.stream === true,
      temperature: body.temperature,
      system: textOf(body.system),
      messages: body.messages.flatMap(({ role, content }: { role: string; content: Block[] }) =>
        content.map((block) => line(role, block)),
      ),
      tools: (body.tools ?? []).map(({ name }: { name: string }) => name),
      schema: body.output_config?.format?.schema ?? body.output_format?.schema,
    };
  },
};

interface Block {
  type: string;
  text?: string;
  name?: string;
  input?: unknown;
  content?: unknown;
}

function line(role: string, { type, text, name, input, content }: Block): string {
  if (type === "tool_use") return `call: ${name} ${JSON.stringify(input)}`;
  if (type === "tool_result") return `result: ${textOf(content)}`;
  return `${role}: ${text}`;
}

const HEAD = { id: "msg_1", type: "message", role: "assistant", model: "scripted" };

function stopReason(reason: End): string | null {
  if (reason === null) return null;
  return reason === "tools" ? "tool_use" : "end_turn";
}
