import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";
import type { ToolSource } from "./toolbox.ts";

/** The tool with which an agent's model hands the conversation over to another agent. */
export function handoffTool(
  { agentId, when }: Handoff,
  handOver: (context: ToolContext) => Promise<ToolOutcome>,
): Tool {
  return {
    kind: "handoff",
    definition: {
      name: `hand_over_to_${agentId}`,
      description: `Hands the conversation over to another agent, which answers the user in your place. Use it when: ${when}`,
      inputSchema: { type: "object", properties: {} },
    },
    rules: {
      speech: { before: "auto", delayed: [] },
      interruption: "continue",
      run: "wait",
      // Of a process that died, the handoff is not stored: it has had no effect.
      mayRepeat: true,
      timeoutMs: 20_000,
    },
    run: (_, context) => handOver(context),
  };
}

/** For a runtime that asks the model itself: its session with the model is the first agent's. */
export const unavailableHandoffs: ToolSource = (agent) =>
  agent.handoffs.map((handoff) =>
    handoffTool(handoff, async () =>
      failed("Handing over is not available in this kind of call. Answer the user yourself."),
    ),
  );
