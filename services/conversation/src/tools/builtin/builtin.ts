import type { ModelTool, ToolCall } from "../../model/port.ts";
import type { ToolContext, ToolOutcome } from "../tool.ts";

/** A tool that every agent can be given by its name in `tools`, with `true` or a configuration. */
export interface BuiltinTool {
  definition(config: ToolConfig): ModelTool;
  run(input: ToolCall["input"], config: ToolConfig, context: Pick<ToolContext, "clock" | "isTelephone">): ToolOutcome;
}

export type ToolConfig = Readonly<Record<string, unknown>>;

/** An agent's built-in tools, by name: true, false or a configuration. */
export type BuiltinConfigs = Record<string, unknown> | undefined;

/** Null when the agent does not have the tool. */
export function configOf(configs: BuiltinConfigs, name: string): ToolConfig | null {
  const given = configs && Object.hasOwn(configs, name) ? configs[name] : undefined;
  if (given === true) return {};
  return typeof given === "object" && given !== null ? (given as ToolConfig) : null;
}
