import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ListedMcpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { type AgentMemory, rememberAgents } from "@parley/shared/domain/agent-memory";
import { agentReader } from "@parley/shared/domain/agent-reader";
import { notFound } from "@parley/shared/errors";
import { bytesOfValue } from "@parley/shared/json/value-bytes";
import type { Logger } from "@parley/shared/log";
import type { Given } from "@parley/shared/process/service";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import type { ConversationConfig } from "./config.ts";

/** The current agents that conversations run on. All throw ServiceError forbidden for another owner's agent, not_found for none. */
export interface Agents extends AgentMemory<AgentRuntime> {
  /** The same, with the text of the analysis prompt; never from memory. */
  getAnalyzing(ownerId: string, agentId: string): Promise<AgentRuntime>;
  /** A draft of the agent, with the text of the analysis prompt; never from memory. */
  getDraft(ownerId: string, agentId: string, draftId: string): Promise<AgentRuntime>;
  /** A tool of the owner's library, with its signing secrets; never from memory. */
  getTool(ownerId: string, toolId: string): Promise<Tool | undefined>;
  /** Tells the library what the MCP server of a tool offers now. */
  reportMcpTools(ownerId: string, toolId: string, tools: readonly ListedMcpTool[]): Promise<unknown>;
}

/** Reads agents, from memory while the agent and the prompt service report every change. */
export function connectAgents(config: ConversationConfig, credentials: Given["credentials"], log: Logger): Agents {
  const agents = createClient(AgentServiceService, {
    peer: "agent",
    address: config.PARLEY_AGENT_ADDRESS,
    credentials,
  });
  const read = runtimeReader(agents);
  const getAnalyzing = read;
  const getDraft = async (ownerId: string, agentId: string, draftId: string) => {
    const { runtime } = await agents.getDraftRuntime({ ownerId, agentId, draftId });
    if (!runtime) throw notFound("Draft");
    return runtime;
  };
  const getTool = async (ownerId: string, toolId: string) => (await agents.getToolRuntime({ ownerId, toolId })).tool;
  const reportMcpTools = (ownerId: string, toolId: string, tools: readonly ListedMcpTool[]) =>
    agents.reportMcpTools({ ownerId, toolId, tools: [...tools] });
  const prompts = createClient(PromptServiceService, {
    peer: "prompt",
    address: config.PARLEY_PROMPT_ADDRESS,
    credentials,
  });
  const memory = rememberAgents<AgentRuntime>({
    read,
    watchAgents: agents.watchAgents,
    watchPrompts: prompts.watchPrompts,
    promptNameOf: ({ prompt }) => prompt?.promptName,
    bytesOf: bytesOfValue,
    log,
  });
  return {
    get: memory.get,
    getAnalyzing,
    getDraft,
    getTool,
    reportMcpTools,
    close: () => {
      memory.close();
      agents.close();
      prompts.close();
    },
  };
}

function runtimeReader(agents: ServiceClient<typeof AgentServiceService>) {
  return agentReader(async (asked) => {
    const keys = asked.map((key) => ({ ...key, agentVersion: 0 }));
    const { results } = await agents.batchGetAgentRuntimes({ keys });
    return results.map(({ runtime, access }) => ({ found: runtime, access }));
  });
}
