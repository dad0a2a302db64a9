import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ListDocumentsRequest } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Sql } from "@parley/shared/db/database";
import type { TestDefinition, TestModel } from "@parley/shared/domain/tests";
import { BUILT_IN_TOOLS } from "@parley/shared/domain/tools";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { CUSTOM, checkModel } from "../catalogue/catalogue.ts";
import type { AgentContext } from "../context.ts";
import { type AgentRow, findAgentOwners } from "../store/agents.ts";
import { listToolNames } from "../store/tools.ts";
import { HANDOFF_PREFIX } from "./replays/recorded.ts";

/**
 * Checks the tools, agents and models that a test refers to. The owner's stored bytes must be locked.
 * @param row the agent as it is now
 * @throws ServiceError invalid for what does not exist
 */
export async function checkReferences(
  ctx: Pick<AgentContext, "catalogue">,
  tx: Sql,
  row: AgentRow,
  test: TestDefinition,
): Promise<void> {
  await checkTools(tx, row, test);
  await checkAgents(tx, row, test);
  if (test.model) checkTestModel(ctx, row, test.model, "model");
  test.assertions.forEach(({ model }, at) => {
    if (model) checkTestModel(ctx, row, model, `assertions.${at}.model`);
  });
}

async function checkTools(tx: Sql, { ownerId }: AgentKey, test: TestDefinition): Promise<void> {
  const named = [
    ...test.tool_mocks.map(({ tool }, at) => ({ tool, path: `tool_mocks.${at}.tool` })),
    ...test.assertions.flatMap(({ tool }, at) => (tool == null ? [] : [{ tool, path: `assertions.${at}.tool` }])),
  ];
  if (named.length === 0) return;
  const known = new Set([...BUILT_IN_TOOLS, ...(await listToolNames(tx, ownerId))]);
  for (const { tool, path } of named)
    if (!known.has(tool) && !isHandoff(tool))
      throw invalid(path, `${path} must be the name of one of your tools or of a built-in one: there is no ${tool}`);
}

function isHandoff(tool: string): boolean {
  return tool.startsWith(HANDOFF_PREFIX) && isId("agt", tool.slice(HANDOFF_PREFIX.length));
}

async function checkAgents(tx: Sql, { ownerId }: AgentKey, { assertions }: TestDefinition): Promise<void> {
  const ids = assertions.map(({ agent_id }) => agent_id ?? "");
  const owners = await findAgentOwners(
    tx,
    ids.filter((id) => isId("agt", id)),
  );
  for (const [at, id] of ids.entries()) {
    const path = `assertions.${at}.agent_id`;
    if (id !== "" && owners.get(id) !== ownerId)
      throw invalid(path, `${path} must be one of your agents: there is no ${id}`);
  }
}

/** A model of an owner's own endpoint has the key that the agent has for it. */
function checkTestModel(
  { catalogue }: Pick<AgentContext, "catalogue">,
  { llm }: Pick<AgentRow, "llm">,
  { provider_name: providerName, model_name: modelName, params }: TestModel,
  path: string,
): void {
  checkModel(catalogue, "llm", path, { providerName, modelName });
  const baseUrl = params?.base_url ?? undefined;
  if (providerName !== CUSTOM.llm) {
    if (baseUrl !== undefined)
      throw invalid(`${path}.params.base_url`, `${path}.params.base_url is for ${CUSTOM.llm} only: leave it out`);
    return;
  }
  const own = llm ? [llm, ...llm.fallbacks] : [];
  if (baseUrl === undefined || !own.some(({ params: its }) => its.baseUrl === baseUrl))
    throw invalid(
      `${path}.params.base_url`,
      `${path}.params.base_url must be that of the agent's own llm, whose key is used`,
    );
}

/** The documents that a test refers to must be in the agent's knowledge bases. @throws ServiceError invalid */
export async function checkDocuments(
  { knowledge }: Pick<AgentContext, "knowledge">,
  { ownerId, knowledge: uses }: Pick<Agent, "ownerId" | "knowledge">,
  { assertions }: TestDefinition,
  origin: CallOrigin,
): Promise<void> {
  for (const [at, { document }] of assertions.entries()) {
    if (document == null) continue;
    const found = await Promise.all(
      uses.map(async ({ knowledgeBaseId }) => {
        if (isId("doc", document))
          return hasDocument(knowledge, { ownerId, knowledgeBaseId, documentId: document }, origin);
        const page = { number: 1, size: 100 };
        const request = { ...ListDocumentsRequest.fromPartial({ ownerId, knowledgeBaseId, search: document }), page };
        const { documents } = await knowledge.listDocuments(request, { origin });
        return documents.some(({ name }) => name === document);
      }),
    );
    const path = `assertions.${at}.document`;
    if (!found.includes(true))
      throw invalid(
        path,
        `${path} must be the id or name of a document in the agent's knowledge bases: there is no ${document}`,
      );
  }
}

async function hasDocument(
  knowledge: AgentContext["knowledge"],
  key: { ownerId: string; knowledgeBaseId: string; documentId: string },
  origin: CallOrigin,
): Promise<boolean> {
  try {
    await knowledge.getDocument(key, { origin });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "not_found") return false;
    throw error;
  }
}
