import { type AnswerFacts, type AnswerShapes, bearer, type Dialect, scriptedFacts, textOf } from "./dialect.ts";

/** https://platform.openai.com/docs/api-reference/responses */
export const responses: Dialect = {
  error: { type: "error", sequence_number: 3, code: "server_error", message: "secret", param: null },
  answer(facts = scriptedFacts()): AnswerShapes {
    let sequence = 0;
    const event = (type: string, fields: object) => ({ type, sequence_number: sequence++, ...fields });
    const created = responseOf(facts);
    const output: Item[] = [];
    let opened = false;
    let message: (Item & { content: [Part] }) | null = null;
    const open = () => {
      if (opened) return [];
      opened = true;
      return [event("response.created", { response: created }), event("response.in_progress", { response: created })];
    };
    const added = (item: Item, unfinished: object) => {
      const at = { item_id: item.id, output_index: output.push(item) - 1 };
      const shown = { ...item, status: "in_progress", ...unfinished };
      return {
        at,
        events: [...open(), event("response.output_item.added", { output_index: at.output_index, item: shown })],
      };
    };
    const closeMessage = () => {
      if (!message) return [];
      const item = message;
      message = null;
      const output_index = output.indexOf(item);
      const at = { item_id: item.id, output_index, content_index: 0 };
      const [part] = item.content;
      return [
        event("response.output_text.done", { ...at, text: part.text, logprobs: [] }),
        event("response.content_part.done", { ...at, part }),
        event("response.output_item.done", { output_index, item }),
      ];
    };
    const completed = () => ({ ...created, status: "completed", output, usage: usageOf(facts) });
    return {
      piece(delta) {
        const opening: object[] = [];
        if (!message) {
          message = messageItem(facts, "");
          const { at, events } = added(message, { content: [] });
          const part = { ...at, content_index: 0, part: { ...message.content[0] } };
          opening.push(...events, event("response.content_part.added", part));
        }
        message.content[0].text += delta;
        const at = { item_id: message.id, output_index: output.indexOf(message), content_index: 0 };
        return [...opening, event("response.output_text.delta", { ...at, delta, logprobs: [] })];
      },
      toolCall(name, input) {
        const closing = closeMessage();
        const item = callItem(facts, name, input);
        const { at, events } = added(item, { arguments: "" });
        return [
          ...closing,
          ...events,
          event("response.function_call_arguments.delta", { ...at, delta: input }),
          event("response.function_call_arguments.done", { ...at, name, arguments: input }),
          event("response.output_item.done", { output_index: at.output_index, item }),
        ];
      },
      // An answer without a reason for its end has no event for it.
      end: (reason) =>
        reason === null ? [] : [...open(), ...closeMessage(), event("response.completed", { response: completed() })],
      whole(text, calls) {
        if (text !== "") output.push(messageItem(facts, text));
        for (const { name, input } of calls) output.push(callItem(facts, name, input));
        return completed();
      },
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

interface Part {
  type: "output_text";
  annotations: [];
  logprobs: [];
  text: string;
}

interface Item {
  id: string;
  type: string;
  status: string;
}

function messageItem({ newId }: AnswerFacts, text: string): Item & { content: [Part] } {
  const part: Part = { type: "output_text", annotations: [], logprobs: [], text };
  const item = { id: newId("msg_"), type: "message", status: "completed", role: "assistant" };
  return { ...item, content: [part] };
}

function callItem({ newId }: AnswerFacts, name: string, input: string): Item {
  const item = { id: newId("fc_"), type: "function_call", status: "completed" };
  return Object.assign(item, { call_id: newId("call_"), name, arguments: input });
}

function responseOf({ newId, createdAtSeconds, model }: AnswerFacts) {
  return {
    id: newId("resp_"),
    object: "response",
    created_at: createdAtSeconds,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
  };
}

function usageOf({ usage: { inputTokens, outputTokens } }: AnswerFacts) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}
