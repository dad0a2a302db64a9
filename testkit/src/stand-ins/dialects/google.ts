import { type AnswerShapes, type Dialect, INPUT_TOKENS, OUTPUT_TOKENS, textOf } from "./dialect.ts";

/** https://ai.google.dev/api/generate-content */
export const google: Dialect = {
  error: { error: { code: 503, message: "secret", status: "UNAVAILABLE" } },
  answer(): AnswerShapes {
    return {
      piece: (text) => [{ candidates: [candidate([{ text }])], ...HEAD }],
      toolCall: (name, input) => [{ candidates: [candidate([functionCall({ name, input })])], ...HEAD }],
      end: (reason) => [
        {
          candidates: [{ ...candidate([{ text: "" }]), ...(reason !== null && { finishReason: "STOP" }) }],
          usageMetadata: USAGE,
          ...HEAD,
        },
      ],
      whole: (text, calls, reason) => ({
        candidates: [
          {
            ...candidate([...(text === "" ? [] : [{ text }]), ...calls.map(functionCall)]),
            ...(reason !== null && { finishReason: "STOP" }),
          },
        ],
        usageMetadata: USAGE,
        ...HEAD,
      }),
    };
  },
  read({ path, headers, body }) {
    const [, model = "", method] = /models\/([^:]+):(\w+)/.exec(path) ?? [];
    return {
      key: String(headers["x-goog-api-key"]),
      model,
      isStream: method === "streamGenerateContent",
      temperature: body.generationConfig?.temperature,
      system: textOf(body.systemInstruction?.parts ?? []),
      messages: body.contents.flatMap(({ role, parts }: { role: string; parts: Part[] }) =>
        parts.map((part) => line(role === "model" ? "assistant" : role, part)),
      ),
      tools: (body.tools?.functionDeclarations ?? body.tools?.[0]?.functionDeclarations ?? []).map(
        ({ name }: { name: string }) => name,
      ),
      schema: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema,
    };
  },
};

interface Part {
  text?: string;
  functionCall?: { name: string; args: unknown };
  functionResponse?: { response: { content?: unknown } };
}

function line(role: string, { text, functionCall: called, functionResponse: answered }: Part): string {
  if (called) return `call: ${called.name} ${JSON.stringify(called.args)}`;
  if (answered) return `result: ${answered.response.content ?? JSON.stringify(answered.response)}`;
  return `${role}: ${text}`;
}

const HEAD = { modelVersion: "scripted", responseId: "resp_1" };
const USAGE = {
  promptTokenCount: INPUT_TOKENS,
  candidatesTokenCount: OUTPUT_TOKENS,
  totalTokenCount: INPUT_TOKENS + OUTPUT_TOKENS,
};

function candidate(parts: object[]) {
  return { index: 0, content: { role: "model", parts } };
}

function functionCall({ name, input }: { name: string; input: string }) {
  return { functionCall: { name, args: JSON.parse(input) } };
}
