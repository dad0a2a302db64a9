import type { AgentPublish, AgentVersion, TrafficShare } from "@parley/proto/parley/agent/v1/agent.ts";
import type { PublishAgentVersionResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { nameOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";
import { presentTool } from "@parley/shared/domain/present/tool";
import { presentAgent } from "./agent.ts";
import { required } from "./required.ts";
import { diffOf, type FieldChange } from "./version-diff.ts";

/** A version as lists show it. */
export function presentListedVersion({ agentVersion, note, createdBy, createdAt, isPublished, weight }: AgentVersion) {
  return {
    agent_version: agentVersion,
    note: note ?? null,
    created_by: createdBy || null,
    created_at: isoTime(createdAt),
    published: isPublished,
    weight,
  };
}

/** The same with what it has. @param withTools whether its tools are shown too */
export function presentVersion(version: AgentVersion, withTools: boolean) {
  return {
    ...presentListedVersion(version),
    agent: presentAgent(required(version.agent)),
    analysis_prompt: presentAnalysisPrompt(version),
    tools: withTools ? toolsOf(version) : null,
  };
}

function presentAnalysisPrompt({ analysisPrompt }: AgentVersion) {
  if (!analysisPrompt) return null;
  const { promptName, promptVersion, promptContent } = analysisPrompt;
  return { prompt_name: promptName, prompt_version: promptVersion, prompt_content: promptContent };
}

function toolsOf({ tools }: AgentVersion) {
  return tools.map((tool) => {
    const { created_at: _, updated_at: __, created_by: ___, ...fields } = presentTool(tool);
    return fields;
  });
}

/** What is not of a version, or is shown more fully by another field. */
const NOT_COMPARED = new Set([
  ...["id", "created_at", "updated_at", "dynamic_variables", "custom_tools"],
  ...["publishing", "agent_version", "latest_version", "published_version", "published_mobile_number"],
]);

/** Where two versions differ. @param withTools whether definitions of tools are compared, and not only which tools there are */
export async function diffOfVersions(from: AgentVersion, to: AgentVersion, withTools: boolean): Promise<FieldChange[]> {
  const names = { from: `version ${from.agentVersion}`, to: `version ${to.agentVersion}` };
  const changes = await diffOf(comparable(from, withTools), comparable(to, withTools), names);
  if (!withTools) return changes;
  const [before, after] = [from, to].map(({ tools }) => tools.map(({ name }) => name)) as [string[], string[]];
  const isReordered = Bun.deepEquals(before.toSorted(), after.toSorted()) && !Bun.deepEquals(before, after);
  return isReordered ? [...changes, { field: "custom_tools", from: before, to: after }] : changes;
}

function comparable(version: AgentVersion, withTools: boolean): object {
  const shown = Object.entries(presentAgent(required(version.agent))).filter(([field]) => !NOT_COMPARED.has(field));
  return {
    ...Object.fromEntries(shown),
    analysis_prompt: presentAnalysisPrompt(version),
    custom_tools: withTools
      ? Object.fromEntries(toolsOf(version).map((tool) => [tool.name, tool]))
      : version.tools.map(({ name }) => name),
  };
}

/** An entry of the publish log. */
export function presentPublish({ split, createdAt, ...entry }: AgentPublish) {
  return {
    number: entry.number,
    kind: entry.kind,
    agent_version: entry.agentVersion ?? null,
    split: split.length > 0 ? split.map(presentShare) : null,
    note: entry.note ?? null,
    override_reason: entry.overrideReason ?? null,
    created_by: entry.createdBy || null,
    created_at: isoTime(createdAt),
  };
}

/** What publishing or splitting traffic did. */
export function presentPublished({ publish, publishing, becameManual }: PublishAgentVersionResponse) {
  return {
    publish: presentPublish(required(publish)),
    publishing: nameOf(PUBLISHINGS, publishing),
    became_manual: becameManual,
  };
}

export function presentShare({ agentVersion, weight }: TrafficShare) {
  return { agent_version: agentVersion, weight };
}
