import { expect, test } from "bun:test";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { meterOf } from "@parley/shared/egress/meter";
import { aiSdkModel } from "./ai-sdk.ts";

test("a streamed answer is not ahead while its parts are read as they arrive, with text in them or not", async () => {
  const doStream = async ({ abortSignal }: LanguageModelV4CallOptions) => {
    let sent = 0;
    const pull = async (controller: ReadableStreamDefaultController) => {
      // Each part arrives once the one before has been read, which takes a turn of the loop.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      meterOf(abortSignal)?.received(250);
      controller.enqueue({ type: "reasoning-delta", id: "r", delta: "word ".repeat(10) });
      if (++sent < 1_000) return;
      controller.enqueue({
        type: "finish",
        finishReason: { unified: "stop" },
        usage: { inputTokens: {}, outputTokens: {} },
      });
      controller.close();
    };
    return { stream: new ReadableStream({ pull }) };
  };
  const model = aiSdkModel({ provider: "CUSTOM_LLM", name: "m" }, { doStream } as unknown as LanguageModelV4, {
    temperature: undefined,
    userFirst: false,
  });
  const ahead: number[] = [];
  let held = 0;
  const received = (bytes: number) => {
    held = bytes;
  };
  const request = {
    system: "",
    messages: [{ role: "user", content: "Hi" } as const],
    tools: [],
    meter: { ownerId: "own_1", received },
    ahead: (bytes: number) => ahead.push(bytes),
  };
  await model.stream(request, new AbortController().signal, () => null);
  expect(ahead).toEqual([]);
  // The turn's memory still counts what has no text.
  expect(held).toBe(250_000);
});
