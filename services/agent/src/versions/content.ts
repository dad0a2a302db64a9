import { createHash } from "node:crypto";
import type { AgentPrompt } from "@parley/proto/parley/agent/v1/agent.ts";
import { McpState } from "@parley/proto/parley/agent/v1/tool.ts";
import { agentFields } from "@parley/shared/domain/agent-fields";
import { jsonHash } from "@parley/shared/json/json-hash";
import { withoutKeys } from "../store/agent-keys.ts";
import type { AgentSettings } from "../store/agents.ts";
import type { ToolRow } from "../store/tools.ts";
import type { NewVersion, VersionContent, VersionPrompt, VersionTool } from "../store/versions.ts";

/** A version's content, its texts by hash, and the hash of it all. */
type Made = Pick<NewVersion, "content" | "hash" | "texts">;

/** A prompt that was read for a new version, or that of an earlier version. */
export type PromptOfVersion = AgentPrompt | VersionPrompt | null;

/** What a version of an agent with these settings has. @param tools those of the library that the agent has, and maybe others */
export function makeContent(
  settings: AgentSettings,
  {
    prompt,
    analysisPrompt,
    tools,
  }: { prompt: PromptOfVersion; analysisPrompt: PromptOfVersion; tools: readonly ToolRow[] },
): Made {
  const texts = new Map<string, string>();
  const keep = (text: string): string => {
    const hash = createHash("sha256").update(text).digest("hex");
    texts.set(hash, text);
    return hash;
  };
  const kept = (read: PromptOfVersion): VersionPrompt | null => {
    if (!read || "text" in read) return read;
    return { promptName: read.promptName, promptVersion: read.promptVersion, text: keep(read.promptContent) };
  };
  const byId = new Map(tools.map((tool) => [tool.toolId, tool]));
  const content: VersionContent = {
    ...settingsOf(settings),
    prompt: kept(prompt),
    analysisPrompt: kept(analysisPrompt),
    toolTexts: settings.customTools.flatMap(({ toolId }) => {
      const tool = byId.get(toolId);
      return tool ? keep(JSON.stringify(toVersionTool(tool))) : [];
    }),
  };
  return { content, hash: jsonHash(content), texts };
}

/** Without anything else that the object has. */
function settingsOf(settings: AgentSettings): AgentSettings {
  const { agentName, agentType, analysis, promptName, promptVersion, promptLabel } = settings;
  const fields = Object.fromEntries(agentFields.map((field) => [field, settings[field]])) as unknown as AgentSettings;
  return {
    ...fields,
    ...withoutKeys(settings),
    agentName,
    agentType,
    analysis,
    promptName,
    promptVersion,
    promptLabel,
  };
}

/** What a version has of a tool: all that an agent's conversations see of it. What its server has added is off until it is accepted. */
function toVersionTool({ toolId, name, description, definition }: ToolRow): VersionTool {
  const { kind, ...rest } = definition;
  if (kind.$case !== "mcp") return { toolId, name, description, definition };
  const definitions = kind.value.definitions.filter(({ state }) => state !== McpState.MCP_STATE_NEW);
  return {
    toolId,
    name,
    description,
    definition: { ...rest, kind: { ...kind, value: { ...kind.value, definitions, problems: [] } } },
  };
}
