import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ModelTool, ToolCall } from "../model/port.ts";
import { type BuiltinConfigs, type BuiltinTool, configOf } from "./builtin/builtin.ts";
import { endCall } from "./builtin/end-call.ts";
import { scheduleCall } from "./builtin/schedule-call.ts";
import { sendDtmf } from "./builtin/send-dtmf.ts";
import { setLanguage } from "./builtin/set-language.ts";
import { transferCall } from "./builtin/transfer-call.ts";
import type { Tool, ToolChannel } from "./tool.ts";

/** The tools of one agent on one channel. */
export interface Toolbox {
  /** What the model is offered. */
  definitions: readonly ModelTool[];
  /** @param call that is to be made with it; a test chooses by its arguments */
  find(name: string, call?: ToolCall): Tool | undefined;
}

/** Makes the tools of one kind that an agent has on a channel. */
export type ToolSource = (agent: AgentRuntime, channel: ToolChannel) => readonly Tool[];

const EVERYWHERE = { end_call: endCall, set_language: setLanguage };

/** By the name in an agent's `tools`. `background_audio` and `user_idle` are settings for the voice runtime. */
const BUILTIN: Readonly<Record<ToolChannel, Readonly<Record<string, BuiltinTool>>>> = {
  chat: EVERYWHERE,
  message: EVERYWHERE,
  call: { ...EVERYWHERE, transfer_call: transferCall, send_dtmf: sendDtmf, schedule_call: scheduleCall },
};

/** Of tools with the same name, the first one counts: built-in tools come before those of the sources. */
export function toolboxOf(agent: AgentRuntime, channel: ToolChannel, sources: readonly ToolSource[]): Toolbox {
  const tools = new Map<string, Tool>();
  for (const tool of [...builtinTools(agent.tools, channel), ...sources.flatMap((source) => source(agent, channel))])
    if (!tools.has(tool.definition.name)) tools.set(tool.definition.name, tool);
  return {
    definitions: [...tools.values()].map(({ definition }) => definition),
    find: (name) => tools.get(name),
  };
}

export function builtinTools(configs: BuiltinConfigs, channel: ToolChannel): Tool[] {
  return Object.entries(BUILTIN[channel]).flatMap(([name, tool]): Tool[] => {
    const config = configOf(configs, name);
    if (!config) return [];
    const definition = tool.definition(config);
    return [{ kind: "builtin", definition, run: ({ input }, context) => tool.run(input, config, context) }];
  });
}
