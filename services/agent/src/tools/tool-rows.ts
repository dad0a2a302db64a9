import { HttpTool, type Tool, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import { ON_TOOL_CHANGES, TOOL_INTERRUPTIONS, TOOL_RUNS } from "@parley/shared/domain/tools";
import { normalizeVariableName } from "@parley/shared/domain/variables/name";
import { invalid } from "@parley/shared/errors";
import type { ToolDefinition, ToolRow } from "../store/tools.ts";
import type { VersionTool } from "../store/versions.ts";

const TIMEOUT_MS = 20_000;
/** Of GET and HEAD, which are safe to repeat. */
const RETRIES = 2;

/** The columns of a tool that its owner gives, with every default filled in. It must have been checked. */
export function givenColumns(tool: Tool): Pick<ToolRow, "name" | "description" | "definition"> {
  const { name, description } = tool;
  return { name, description, definition: definitionOf(tool) };
}

function definitionOf({ timeoutMs, speech, interruption, run, kind }: Tool): ToolDefinition {
  if (!kind) throw invalid("type", "type is required");
  return {
    timeoutMs: timeoutMs || TIMEOUT_MS,
    speech: speech ?? { before: "auto", delayed: [], sound: undefined },
    interruption: interruption || TOOL_INTERRUPTIONS.continue,
    run: run || TOOL_RUNS.wait,
    kind: filled(kind),
  };
}

/** Variables have their canonical names, under which conversations keep them. */
function filled(kind: ToolDefinition["kind"]): ToolDefinition["kind"] {
  switch (kind.$case) {
    case "http": {
      const assignments = kind.value.assignments.map(({ variable, pointer }) => ({
        variable: normalizeVariableName(variable),
        pointer,
      }));
      return { $case: "http", value: { ...kind.value, parameters: canonical(kind.value.parameters), assignments } };
    }
    case "client": {
      const { parameters, wait = true } = kind.value;
      return { $case: "client", value: { parameters: canonical(parameters), wait } };
    }
    case "mcp": {
      const onChange = kind.value.onChange || ON_TOOL_CHANGES.keep_if_schema_same;
      return { $case: "mcp", value: { ...kind.value, onChange } };
    }
  }
}

function canonical(parameters: HttpTool["parameters"]): HttpTool["parameters"] {
  return parameters.map((parameter) => {
    const { source, allowedFrom } = parameter;
    return {
      ...parameter,
      source: source?.$case === "variable" ? { ...source, value: normalizeVariableName(source.value) } : source,
      allowedFrom: allowedFrom === undefined ? undefined : normalizeVariableName(allowedFrom),
    };
  });
}

/** The tool as its owner sees it, or as a version of an agent has it. */
export function toTool(row: VersionTool & Partial<Pick<ToolRow, "createdAt" | "updatedAt" | "createdBy">>): Tool {
  const { definition } = row;
  return {
    toolId: row.toolId,
    name: row.name,
    description: row.description,
    ...definition,
    kind:
      definition.kind.$case === "http" ? { $case: "http", value: shownHttp(definition.kind.value) } : definition.kind,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    createdBy: row.createdBy ?? "",
    signingSecrets: [],
  };
}

function shownHttp(stored: HttpTool): HttpTool {
  const { TOOL_METHOD_GET, TOOL_METHOD_HEAD } = ToolMethod;
  const isSafe = stored.method === TOOL_METHOD_GET || stored.method === TOOL_METHOD_HEAD;
  return { ...HttpTool.fromPartial({}), ...stored, retries: stored.retries ?? (isSafe ? RETRIES : 0) };
}

const COMMON = ["name", "description", "timeoutMs", "speech", "interruption", "run"] as const;

/**
 * The tool as a change makes it.
 * @param fields those of `given` that count
 * @throws ServiceError invalid if the change is for another type of tool
 */
export function changedTool(row: ToolRow, given: Tool, fields: readonly string[]): Tool {
  const { kind } = row.definition;
  if (given.kind && given.kind.$case !== kind.$case)
    throw invalid("type", `type must stay ${row.type}: make another tool`);
  const own = Object.entries(given.kind?.value ?? {}).filter(([field]) => fields.includes(field));
  const common = COMMON.filter((field) => fields.includes(field)).map((field) => [field, given[field]]);
  return {
    ...toTool(row),
    ...row.definition,
    ...Object.fromEntries(common),
    kind: { ...kind, value: { ...kind.value, ...Object.fromEntries(own) } } as ToolDefinition["kind"],
  };
}
