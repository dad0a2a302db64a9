import { type HttpTool, type Tool as LibraryTool, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { definitionOf, refusedArgument, rulesOf } from "../custom-tool.ts";
import { failed, type Tool, type ToolOutcome } from "../tool.ts";
import type { ToolSource } from "../toolbox.ts";
import { MODEL_BYTES_MAX, takeAnswer, toldAnew, withRestNoted } from "./answer.ts";
import { callHttpTool, type HttpOutcome, type HttpTools } from "./call.ts";

const SAFE_METHODS: ReadonlySet<ToolMethod> = new Set([ToolMethod.TOOL_METHOD_GET, ToolMethod.TOOL_METHOD_HEAD]);

/** The tools of the owner's library that call an HTTP server, on every channel. */
export function httpTools(tools: HttpTools): ToolSource {
  return (agent) =>
    agent.customTools.flatMap((tool) => (tool.kind?.$case === "http" ? [httpTool(tools, tool, tool.kind.value)] : []));
}

function httpTool(tools: HttpTools, tool: LibraryTool, http: HttpTool): Tool {
  return {
    kind: "http",
    definition: definitionOf(tool, http.parameters),
    rules: rulesOf(tool, SAFE_METHODS.has(http.method) || http.idempotent),
    async run({ input }, { ownerId, conversationId, toolCallId, variables, signal, attempted }) {
      attempted(0);
      const args = input ?? {};
      const refused = refusedArgument(http.parameters, args, variables);
      if (refused !== null) return failed(refused);
      const idempotencyKey = `${conversationId}:${toolCallId}`;
      const call = { ownerId, tool, http, idempotencyKey, conversationId, args, variables, signal, attempted };
      return toolOutcome(await callHttpTool(tools, call));
    },
    answered({ input }, { variables }, { text, isRecorded }) {
      const refused = refusedArgument(http.parameters, input ?? {}, variables);
      if (refused !== null) return failed(refused);
      const outcome = toolOutcome({ ...takeAnswer({ status: 200, text, isCut: false }, http), status: null });
      return isRecorded ? { ...outcome, result: toldAnew(text, http), isError: false } : outcome;
    },
  };
}

function toolOutcome(outcome: Omit<HttpOutcome, "attempts" | "request" | "answer">): ToolOutcome {
  const { isError, status, assignments } = outcome;
  return {
    result: toldOf(outcome),
    isError,
    status: status ?? undefined,
    assignments: assignments as Record<string, VariableValue>,
  };
}

/** All that the model is told of a call. */
export function toldOf({ forModel, dropped }: Pick<HttpOutcome, "forModel" | "dropped">): string {
  const notes = dropped.map(
    (variable) => `\nThe variable "${variable}" was not set: its value is longer than 16 KiB or cannot be stored.`,
  );
  const room = MODEL_BYTES_MAX - Buffer.byteLength(notes.join(""));
  return withRestNoted(forModel, room) + notes.join("");
}
