import { expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { bodyWriter, onlyWrite, requestWriter, type WrittenRequest } from "./written-request.ts";

const OPTIONS: LanguageModelV4CallOptions = {
  prompt: [
    { role: "system", content: "Be brief. é" },
    { role: "user", content: [{ type: "text", text: "Which day?" }] },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "call00001", toolName: "today", input: {} }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "call00001", toolName: "today", output: { type: "text", value: "Monday" } },
      ],
    },
  ],
  temperature: 0.5,
  responseFormat: { type: "json", name: "day", schema: { type: "object", properties: {} } },
  tools: [{ type: "function", name: "today", description: "The day", inputSchema: { type: "object", properties: {} } }],
};

test("a request of which only the body is written is the AI SDK's own, streamed or whole", async () => {
  const endpoint = { baseURL: "https://model.test/v1/", apiKey: "sk-theirs", fetch: onlyWrite, name: "custom" };
  const provider = createOpenAICompatible({ ...endpoint, includeUsage: true, supportsStructuredOutputs: true });
  const model = new Proxy(provider.chatModel("any") as Parameters<typeof bodyWriter>[0], {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === "doGenerate" || name === "doStream") sdkWrote++;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  let sdkWrote = 0;
  const writeBody = bodyWriter(model);
  const first = plain(
    await writeBody({ prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] }, "whole"),
  );
  expect(first.body).toContain('"Hi"');
  for (const mode of ["streamed", "whole"] as const) {
    const expected = plain(await requestWriter(model)(OPTIONS, mode));
    sdkWrote = 0;
    expect(plain(await writeBody(OPTIONS, mode))).toEqual(expected);
    expect(sdkWrote).toBe(0);
    expect(expected.url).toBe("https://model.test/v1/chat/completions");
  }
});

function plain({ url, init: { body, method, headers } }: WrittenRequest) {
  return { url, method, headers, body: typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array) };
}
