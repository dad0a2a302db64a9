import { expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { transcript } from "../../src/call/transcript.ts";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { fakeTime } from "../kit/fake-time.ts";

test("a message has the time at which it was said, on the clock that all processes share, also if it is stored later", async () => {
  const said = new Date(1_000_000);
  const time = fakeClock(said);
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
      converse: async function* (requests) {
        for await (const { turn } of requests) {
          times.push(turn?.saidAt);
          yield { event: { $case: "stored", value: { lastSequence: times.length } } };
        }
      },
    },
    key: { ownerId: "own_1", conversationId: "c" },
    lastSequence: 0,
    clock: fakeTime(),
    tools: () => ({ clientTools: false, tellsTools: false }),
    time,
    refused: (error) => {
      throw error;
    },
  });
  kept.append("assistant", "Hello.");
  kept.append("user", "Bye.");
  const ignored = () => {};
  kept
    .ask("Bye?", {
      ...{ text: ignored, action: ignored, complete: ignored, failed: ignored, delayed: ignored },
      ...{ toolStarted: ignored, toolEnded: ignored, toolLeft: ignored, clientCall: ignored, toolNews: ignored },
    })
    .settle("", {}, null, []);
  time.advance(60_000);
  gate.resolve();
  await kept.settled();
  expect(times).toEqual([said, said, said]);
});
