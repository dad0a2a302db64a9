/**
 * The pages under Build, which load as one script: a script for each page would need dozens of small files for what they share.
 */
import "../shared.ts";
import { agentNamesQuery, agentQuery, agentsQuery } from "../../features/agents/agents.ts";
import { replayQuery, runQuery, testQuery } from "../../features/agents/tests/queries.ts";
import { baseQuery, basesQuery } from "../../features/knowledge/knowledge.ts";
import { promptsQuery, sharedPromptsQuery, versionsQuery } from "../../features/prompts/prompts.ts";
import { toolQuery, toolsQuery } from "../../features/tools/tools.ts";
import type { FirstQueries } from "../first-data.ts";

export { AgentsPage } from "../../features/agents/agents-page.tsx";
export { AgentPage } from "../../features/agents/editor/agent-page.tsx";
export { NewTestPage } from "../../features/agents/tests/editor/new-test-page.tsx";
export { TestPage } from "../../features/agents/tests/editor/test-page.tsx";
export { ReplayPage } from "../../features/agents/tests/replays/replay-page.tsx";
export { RunPage } from "../../features/agents/tests/runs/run-page.tsx";
export { KnowledgeBasePage } from "../../features/knowledge/base-page.tsx";
export { DocumentPage } from "../../features/knowledge/documents/document-page.tsx";
export { KnowledgePage } from "../../features/knowledge/knowledge-page.tsx";
export { PromptPage } from "../../features/prompts/prompt-page.tsx";
export { PromptsPage } from "../../features/prompts/prompts-page.tsx";
export { NewToolPage } from "../../features/tools/editor/new-tool-page.tsx";
export { ToolPage } from "../../features/tools/editor/tool-page.tsx";
export { ImportToolsPage } from "../../features/tools/import/import-page.tsx";
export { ToolsPage } from "../../features/tools/tools-page.tsx";

/** What these pages ask for first when their address has no filters. */
export const FIRST_QUERIES: FirstQueries = {
  "/agents": () => [agentsQuery({})],
  "/agents/$agentId": ({ agentId = "" }) => [agentQuery(agentId), sharedPromptsQuery],
  "/agents/$agentId/tests/$testId": ({ agentId = "", testId = "" }) => [testQuery(agentId, testId)],
  "/agents/$agentId/runs/$runId": ({ agentId = "", runId = "" }) => [runQuery(agentId, runId)],
  "/agents/$agentId/replays/$replayId": ({ agentId = "", replayId = "" }) => [replayQuery(agentId, replayId)],
  "/prompts": () => [promptsQuery({}), agentNamesQuery],
  "/knowledge": () => [basesQuery({})],
  "/knowledge/$baseId": ({ baseId = "" }) => [baseQuery(baseId)],
  "/tools": () => [toolsQuery({})],
  "/tools/$toolId": ({ toolId = "" }) => [toolQuery(toolId)],
  "/prompts/$promptName": ({ promptName = "" }) => [versionsQuery(promptName)],
};
