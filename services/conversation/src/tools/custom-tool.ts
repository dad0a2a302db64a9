import {
  type Tool as LibraryTool,
  ToolInterruption,
  type ToolParameter,
  ToolRun,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { normalizeVariableName } from "@parley/shared/domain/variables/name";
import type { ModelTool } from "../model/port.ts";
import type { ToolContext, ToolRules } from "./tool.ts";

/** What the model is told of a tool of the owner's library: the parameters that it fills in. */
export function definitionOf({ name, description }: LibraryTool, parameters: readonly ToolParameter[]): ModelTool {
  const given = parameters.flatMap(({ source, ...parameter }) =>
    source?.$case === "schema" ? [{ ...parameter, schema: source.value ?? {} }] : [],
  );
  const required = given.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(given.map((parameter) => [parameter.name, parameter.schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return { name, description, inputSchema };
}

/** How calls of a tool of the owner's library are made. */
export function rulesOf({ speech, interruption, run, timeoutMs }: LibraryTool, mayRepeat: boolean): ToolRules {
  const { before = "auto", delayed = [], sound } = speech ?? {};
  return {
    speech: { before: before === "auto" || before === "off" ? before : { text: before }, delayed, sound },
    interruption: interruption === ToolInterruption.TOOL_INTERRUPTION_CANCEL ? "cancel" : "continue",
    run: run === ToolRun.TOOL_RUN_BACKGROUND ? "background" : "wait",
    mayRepeat,
    timeoutMs,
  };
}

/**
 * Why the model must not give these values: a parameter with `allowed_from` takes only members of a list variable, so that a caller
 * cannot talk the model into another's. Null when it may.
 */
export function refusedArgument(
  parameters: readonly ToolParameter[],
  args: Readonly<Record<string, unknown>>,
  variables: ToolContext["variables"],
): string | null {
  for (const { name, allowedFrom } of parameters) {
    if (allowedFrom === undefined || !Object.hasOwn(args, name)) continue;
    const list = variables[normalizeVariableName(allowedFrom)];
    const allowed = new Set(Array.isArray(list) ? list.map(comparable) : []);
    const given = Array.isArray(args[name]) ? args[name] : [args[name]];
    if (allowed.size > 0 && given.every((value) => allowed.has(comparable(value)))) continue;
    return allowed.size === 0
      ? `"${name}" has no allowed values in this conversation. Nothing was called.`
      : `"${name}" must be one of ${[...allowed].join(", ").slice(0, 1_000)}. Nothing was called.`;
  }
  return null;
}

/** A list that came from a spreadsheet may have texts where the model gives numbers. */
function comparable(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
