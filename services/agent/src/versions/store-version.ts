import type { Sql } from "@parley/shared/db/database";
import { type Actor, actorText } from "@parley/shared/rpc/actor";
import type { AgentRow } from "../store/agents.ts";
import { insertPublishes } from "../store/publishes.ts";
import { findTools } from "../store/tools.ts";
import { findContent, insertVersions } from "../store/versions.ts";
import { makeContent, type PromptOfVersion } from "./content.ts";

/** What a new version has beside the agent's settings. */
interface VersionFacts {
  /** Absent: as the newest version has it. */
  prompt?: PromptOfVersion | undefined;
  analysisPrompt?: PromptOfVersion | undefined;
  note: string | null;
  actor: Actor;
  now: Date;
}

/**
 * Stores the next version of an agent that is about to be stored, and publishes it if the agent's changes take effect at once.
 * @returns the agent with its new version
 */
export async function storeVersion(tx: Sql, row: AgentRow, facts: VersionFacts): Promise<AgentRow> {
  const { ownerId, agentId } = row;
  const tools = await findTools(
    tx,
    row.customTools.map(({ toolId }) => ({ ownerId, toolId })),
  );
  const agentVersion = row.latestVersion + 1;
  const before = await findContent(tx, { ownerId, agentId, agentVersion: row.latestVersion });
  const { prompt = before?.prompt ?? null, analysisPrompt = before?.analysisPrompt ?? null } = facts;
  const made = makeContent(row, { prompt, analysisPrompt, tools });
  const createdBy = actorText(facts.actor);
  const key = { ownerId, agentId, agentVersion };
  await insertVersions(tx, [{ ...key, ...made, createdBy, note: facts.note, createdAt: facts.now }]);
  const next = { ...row, latestVersion: agentVersion };
  if (row.publishing === "manual") return next;
  await insertPublishes(tx, [{ ...key, kind: "automatic", createdBy, createdAt: facts.now }]);
  return { ...next, publishedVersion: agentVersion, publishedNumbers: row.agentMobileNumbers, traffic: null };
}
