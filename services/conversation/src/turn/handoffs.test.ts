import { expect, test } from "bun:test";
import { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { turnHandoffs } from "./handoffs.ts";

const CHAT = { channel: "chat" as const, message: null, test: null };

test("a handoff to another owner's agent is told to the model as one to an agent that does not exist", async () => {
  const handoffs = [Handoff.fromPartial({ agentId: "agt_theirs", when: "Always" })];
  const first = { agent: AgentRuntime.fromPartial({ agentId: "agt_ours", handoffs }), model: {} as never };
  const ctx = {
    toolSources: [],
    db: async () => [],
    clock: { now: () => new Date() },
    agents: {
      choose: async () => {
        throw new ServiceError("forbidden", "You do not have access to this agent");
      },
    },
  };
  const { speaker, take } = await turnHandoffs(ctx as never, {} as never, first, CHAT, silentLogger);
  const tool = speaker().toolbox.find("hand_over_to_agt_theirs");
  expect(await tool?.run({} as never, {} as never)).toMatchObject({
    isError: true,
    result: "This agent does not exist anymore. The conversation stays with you: answer the user yourself.",
  });
  expect(take()).toBeNull();
});
