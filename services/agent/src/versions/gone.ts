import type { Sql } from "@parley/shared/db/database";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";
import { keySecretsOf } from "../model-keys/key-secrets.ts";
import { findAgentOwners } from "../store/agents.ts";
import { findToolOwners } from "../store/tools.ts";
import type { AgentVersion } from "../store/versions.ts";
import { secretsOf } from "../tools/tool-uses.ts";
import { takenNumber } from "./numbers.ts";

type Context = Pick<AgentContext, "prompts" | "accounts" | "knowledge">;

/** What a version needs of other services and they no longer have, as clauses. */
export async function goneElsewhere(ctx: Context, version: AgentVersion, origin: CallOrigin): Promise<string[]> {
  const gone = await Promise.all([
    gonePrompts(ctx, version, origin),
    goneSecrets(ctx, version, origin),
    goneKnowledge(ctx, version, origin),
    goneNumbers(ctx, version, origin),
  ]);
  return gone.flat();
}

/** The same of this service, and numbers that another agent answers. The owner's stored bytes must be locked. */
export async function goneHere(tx: Sql, { row, tools }: AgentVersion, answered: readonly string[]): Promise<string[]> {
  const { ownerId, customTools, handoffs, agentMobileNumbers } = row;
  const toolIds = customTools.map(({ toolId }) => toolId);
  const agentIds = handoffs.map(({ agentId }) => agentId);
  const toolOwners = await findToolOwners(tx, toolIds);
  const agentOwners = await findAgentOwners(tx, agentIds);
  const added = agentMobileNumbers.filter((number) => !answered.includes(number));
  const taken = await takenNumber(tx, row, added);
  return [
    ...toolIds
      .filter((id) => toolOwners.get(id) !== ownerId)
      .map((id) => `there is no tool ${tools.find(({ toolId }) => toolId === id)?.name ?? id}`),
    ...agentIds.filter((id) => agentOwners.get(id) !== ownerId).map((id) => `there is no agent ${id} to hand over to`),
    ...(taken ? [taken] : []),
  ];
}

async function gonePrompts({ prompts }: Context, version: AgentVersion, origin: CallOrigin): Promise<string[]> {
  const used = [version.prompt, version.analysisPrompt].filter((prompt) => prompt !== undefined);
  if (used.length === 0) return [];
  const items = used.map(({ promptName, promptVersion }) => ({
    ownerId: version.row.ownerId,
    reference: { promptName, promptVersion },
  }));
  const { results } = await prompts.batchGetPrompts({ items, forPage: false }, { origin });
  return used
    .filter((_, at) => !results[at]?.prompt)
    .map(({ promptName, promptVersion }) => `there is no version ${promptVersion} of prompt ${promptName}`);
}

async function goneSecrets({ accounts }: Context, { row, tools }: AgentVersion, origin: CallOrigin): Promise<string[]> {
  const ofTools = tools.flatMap(({ definition }) => secretsOf(definition.kind).map(({ name }) => name));
  const ofStart = row.startWebhook?.headers.flatMap(({ secret }) => secret ?? []) ?? [];
  const ofModels = keySecretsOf(row).map(({ name }) => name);
  const used = [...new Set([...ofModels, ...ofTools, ...ofStart])];
  if (used.length === 0) return [];
  const { names } = await accounts.findSecrets({ ownerId: row.ownerId, names: used }, { origin });
  return used.filter((name) => !names.includes(name)).map((name) => `there is no secret ${name}`);
}

async function goneNumbers({ accounts }: Context, { row }: AgentVersion, origin: CallOrigin): Promise<string[]> {
  const { ownerId, agentMobileNumbers } = row;
  if (agentMobileNumbers.length === 0) return [];
  const { mobileNumbers } = await accounts.findLostNumbers({ ownerId, mobileNumbers: agentMobileNumbers }, { origin });
  return mobileNumbers.map((number) => `the phone number ${number} is no longer one of this account's`);
}

async function goneKnowledge({ knowledge }: Context, { row }: AgentVersion, origin: CallOrigin): Promise<string[]> {
  const knowledgeBaseIds = row.knowledge.map(({ knowledgeBaseId }) => knowledgeBaseId);
  if (knowledgeBaseIds.length === 0) return [];
  const { results } = await knowledge.resolveKnowledgeBases(
    { ownerId: row.ownerId, knowledgeBaseIds, withCharacters: false },
    { origin },
  );
  return knowledgeBaseIds
    .filter((_, at) => !results[at]?.knowledgeBase)
    .map((id) => `there is no knowledge base ${id}`);
}
