import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { listReferringAgents, type PromptUserRow } from "./store/references.ts";

/** Agents that a refusal names. */
const AGENTS_NAMED_MAX = 10;

/**
 * For the deletion of a locked prompt, or of one of its labels. @param what with a null label, the prompt
 * @throws ServiceError conflict, which names the agents that use it
 */
export async function refuseWhileUsed(
  tx: Sql,
  what: { ownerId: string; promptName: string; label: string | null },
): Promise<void> {
  const { promptName, label } = what;
  const { agents, total } = await listReferringAgents(tx, what, AGENTS_NAMED_MAX);
  if (total === 0) return;
  const more = total > agents.length ? ` and ${total - agents.length} more` : "";
  const used = `used by the ${total === 1 ? "agent" : "agents"}`;
  throw new ServiceError(
    "conflict",
    label === null
      ? `Prompt ${promptName} is ${used} ${agents.map(described).join(", ")}${more}: give every agent another prompt, in published versions too, before deleting it`
      : `Label ${label} of prompt ${promptName} is ${used} ${agents.map(({ agentName }) => agentName).join(", ")}${more}: give every agent another label or a version, in published versions too, before deleting it`,
  );
}

function described({ agentName, labels }: PromptUserRow): string {
  if (labels.length === 0) return agentName;
  return `${agentName} (${labels.length === 1 ? "label" : "labels"} ${labels.join(", ")})`;
}
