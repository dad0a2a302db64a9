import { expect, test } from "bun:test";
import { TestSetup } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { HoldTestCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Drivers, HeldConversation } from "./driver.ts";
import { holdCall } from "./hold-call.ts";

const turn = (latencyMs: number): HoldTestCallResponse => ({
  news: { $case: "turn", value: { recognized: "", heard: "Yes.", latencyMs } },
});

test("a line that interrupts is sent before the line before it is answered, and one that does not, after", async () => {
  const happened: string[] = [];
  const voices: Drivers["voices"] = {
    holdTestCall: async function* (requests) {
      const steps = requests[Symbol.asyncIterator]();
      const takes = async () => {
        const { value } = await steps.next();
        happened.push(value.step?.$case === "line" ? value.step.value.text : (value.step?.$case ?? "start"));
      };
      await takes();
      yield turn(0);
      // Neither line is answered before both are here.
      await takes();
      await takes();
      for (const latencyMs of [100, 200]) {
        happened.push("answer");
        yield turn(latencyMs);
      }
      await takes();
      happened.push("answer");
      yield turn(300);
      await takes();
      yield { news: { $case: "end", value: { endedBy: "user", reason: "" } } };
    },
  };
  const lines = [{ text: "one" }, { text: "two", interrupt_at_ms: 500 }, { text: "three" }];
  const held: HeldConversation = {
    ...{ ownerId: "own_1", agentId: "agt_1", agentVersion: 1, conversationId: "c", origin: { requestId: "r" } },
    setup: TestSetup.fromPartial({ runId: "run_1" }),
    begun: () => {},
    isScripted: true,
    next: async () => {
      const line = lines.shift();
      return line ? { line } : { ends: "user" };
    },
  };
  const { latenciesMs } = await holdCall({ voices } as Drivers, held);
  expect(happened).toEqual(["start", "one", "two", "answer", "answer", "three", "answer", "hangUp"]);
  expect(latenciesMs).toEqual([100, 200, 300]);
});

test("a simulated user is not asked for a word after the agent has hung up, and one without turns left is told from one who leaves", async () => {
  let asked = 0;
  const hold = (news: readonly HoldTestCallResponse[], ends: "user" | "system") => {
    const voices: Drivers["voices"] = {
      holdTestCall: async function* (requests) {
        const steps = requests[Symbol.asyncIterator]();
        await steps.next();
        yield* news;
        await steps.next();
      },
    };
    const held: HeldConversation = {
      ...{ ownerId: "own_1", agentId: "agt_1", agentVersion: 1, conversationId: "c", origin: { requestId: "r" } },
      setup: TestSetup.fromPartial({ runId: "run_1" }),
      begun: () => {},
      isScripted: false,
      next: async () => {
        asked++;
        return { ends };
      },
    };
    return holdCall({ voices } as Drivers, held);
  };
  const end: HoldTestCallResponse = { news: { $case: "end", value: { endedBy: "agent", reason: "" } } };
  await hold([end], "user");
  expect(asked).toBe(0);
  expect((await hold([turn(0)], "user")).isCutShort).toBe(false);
  expect((await hold([turn(0)], "system")).isCutShort).toBe(true);
});
