import { type AnswerShapes, bearer, type Dialect, INPUT_TOKENS, OUTPUT_TOKENS, textOf } from "./dialect.ts";

/** https://platform.openai.com/docs/api-reference/responses */
export const responses: Dialect = {
  error: { type: "error", sequence_number: 3, code: "server_error", message: "secret", param: null },
  answer(): AnswerShapes {
    let sequence = 0;
    let items = 0;
    let opened = false;
    const event = (type: string, fields: object) => ({ type, sequence_number: sequence++, ...fields });
    const open = () => {
      if (opened) return [];
      opened = true;
      return [event("response.created", { response: { ...HEAD, status: "in_progress" } })];
    };
    let message = -1;
    return {
      piece(delta) {
        const opening = open();
        if (message === -1) {
          message = items++;
          opening.push(event("response.output_item.added", { output_index: message, item: messageItem("") }));
        }
        const at = { item_id: "msg_1", output_index: message, content_index: 0 };
        return [...opening, event("response.output_text.delta", { ...at, delta, logprobs: [] })];
      },
      toolCall(name, input) {
        const at = items++;
        const item = callItem(at, name, input);
        return [
          ...open(),
          event("response.output_item.added", { output_index: at, item: { ...item, arguments: "" } }),
          event("response.function_call_arguments.delta", { item_id: item.id, output_index: at, delta: input }),
          event("response.output_item.done", { output_index: at, item }),
        ];
      },
      // An answer that says nothing of its end has no event for it.
      end: (reason) =>
        reason === null
          ? []
          : [...open(), event("response.completed", { response: { ...HEAD, status: "completed", usage: USAGE } })],
      whole: (text, calls) => ({
        ...HEAD,
        status: "completed",
        output: [
          ...(text === "" ? [] : [messageItem(text)]),
          ...calls.map(({ name, input }, at) => callItem(at, name, input)),
        ],
        usage: USAGE,
      }),
    };
  },
  read(request) {
    const { body } = request;
    const system = body.input.filter(isSystem);
    return {
      key: bearer(request),
      model: body.model,
      isStream: body.stream === true,
      temperature: body.temperature,
      system: system.map(({ content }: InputItem) => textOf(content)).join(""),
      messages: body.input.filter((item: InputItem) => !isSystem(item)).map(line),
      tools: (body.tools ?? []).map(({ name }: { name: string }) => name),
      schema: body.text?.format?.schema,
    };
  },
};

interface InputItem {
  type?: string;
  role?: string;
  content?: unknown;
  name?: string;
  arguments?: string;
  output?: string;
}

function isSystem({ role }: InputItem): boolean {
  return role === "system" || role === "developer";
}

function line({ type, role, content, name, arguments: input, output }: InputItem): string {
  if (type === "function_call") return `call: ${name} ${input}`;
  if (type === "function_call_output") return `result: ${output}`;
  return `${role}: ${textOf(content)}`;
}

const HEAD = {
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  model: "scripted",
  error: null,
  incomplete_details: null,
};
const USAGE = {
  input_tokens: INPUT_TOKENS,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: OUTPUT_TOKENS,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};

function messageItem(text: string) {
  const content = text === "" ? [] : [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", status: "completed", role: "assistant", content };
}

function callItem(at: number, name: string, input: string) {
  return { id: `fc_${at}`, type: "function_call", status: "completed", call_id: `call_${at}`, name, arguments: input };
}
