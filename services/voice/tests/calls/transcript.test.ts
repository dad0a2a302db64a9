import { expect, setSystemTime, test } from "bun:test";
import { transcript } from "../../src/call/transcript.ts";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { fakeTime } from "../kit/fake-time.ts";

test("a message has the time at which it was said, also if it is stored later", async () => {
  try {
    setSystemTime(new Date(1_000_000));
    const conversations = fakeConversations();
    const times: (Date | undefined)[] = [];
    const gate = Promise.withResolvers<void>();
    const kept = transcript({
      conversations: {
        ...conversations,
        appendTranscript: async (requests) => {
          await gate.promise;
          for await (const { message } of requests) times.push(message?.timestamp);
          return { lastSequence: times.length };
        },
      },
      key: { ownerId: "own_1", conversationId: "c" },
      lastSequence: 0,
      clock: fakeTime(),
      refused: (error) => {
        throw error;
      },
    });
    kept.append("assistant", "Hello.");
    kept.append("user", "Bye.");
    setSystemTime(new Date(2_000_000));
    gate.resolve();
    await kept.settled();
    expect(times).toEqual([new Date(1_000_000), new Date(1_000_000)]);
  } finally {
    setSystemTime();
  }
});
