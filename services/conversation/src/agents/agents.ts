import type { AgentPointer, AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentServiceService, AgentVersionKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ListedMcpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { agentReader } from "@parley/shared/domain/agent-reader";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import { notFound, ServiceError } from "@parley/shared/errors";
import { bytesOfValue } from "@parley/shared/json/value-bytes";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { ownerCache } from "@parley/shared/shares/owner-cache";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import type { Kept } from "../store/agent-path.ts";
import { type Caller, chosenVersion } from "./choose-version.ts";
import { agentPointers, type PointerSettings } from "./pointers.ts";
import { lacksSecretKey, withSecretKeys } from "./secret-keys.ts";

/** What a conversation begins with: a draft, a version by its number, the newest one, or else the published one. */
interface Wanted {
  draftId?: string | null | undefined;
  agentVersion?: number | null | undefined;
  latestVersion?: boolean | undefined;
  caller: Caller;
}

/** The agents that conversations run on. All throw ServiceError forbidden for another owner's agent, not_found for none. */
export interface Agents {
  /**
   * What a conversation begins with now.
   * @throws ServiceError not_found for a version or draft that there is not, conflict if the agent has no published version
   */
  choose(ownerId: string, agentId: string, wanted: Wanted): Promise<AgentRuntime>;
  /** What a conversation has begun with. */
  get(ownerId: string, agentId: string, kept: Kept): Promise<AgentRuntime>;
  /** Only whether there is such an agent. */
  check(ownerId: string, agentId: string): Promise<unknown>;
  /** A tool of the owner's library, with its signing secrets; never from memory. */
  getTool(ownerId: string, toolId: string): Promise<Tool | undefined>;
  /** Tells the library what the MCP server of a tool offers now. */
  reportMcpTools(ownerId: string, toolId: string, tools: readonly ListedMcpTool[]): Promise<unknown>;
  close(): void;
}

/** Whether reading an agent failed because it was deleted, or is another owner's, which the owner must not learn. */
export function isGone(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === "not_found" || error.kind === "forbidden");
}

/** Room for about 8,000 versions with prompts of 1,000 tokens, and for 1,000 of one owner. */
const TOTAL_BYTES = 64 * 1024 * 1024;
const OWNER_BYTES = 8 * 1024 * 1024;

/** What a version refers to that may change. */
type GoodFor = Pick<AgentPointer, "keysRevision" | "pricesHash">;

type AgentClient = Pick<
  ServiceClient<typeof AgentServiceService>,
  "batchGetAgentRuntimes" | "getDraftRuntime" | "getToolRuntime" | "reportMcpTools"
> &
  Pick<PointerSettings, "batchGetPointers">;

/**
 * Remembers versions, which never change, for as long as there is room, with the values of the secrets that are keys of their models. Only
 * which one is published, and whether the keys and prices that it refers to are still the same, is asked each time.
 * @param nowMs a clock that only goes forward
 */
export function agentsOf(client: AgentClient, reveal: RevealSecrets, log: Logger, nowMs?: () => number): Agents {
  const pointers = agentPointers({ batchGetPointers: client.batchGetPointers, log, ...(nowMs && { nowMs }) });
  const versions = ownerCache<AgentRuntime>({ totalBytes: TOTAL_BYTES, ownerBytes: OWNER_BYTES });
  const stopObserving = observeHeldBytes("agents", () => versions.heldBytes() + pointers.heldBytes());
  const read = agentReader<AgentVersionKey, AgentRuntime>(async (keys) => {
    const { results } = await client.batchGetAgentRuntimes({ keys });
    return results.map(({ runtime, access }) => ({ found: runtime, access }));
  });

  async function getVersion(key: AgentVersionKey, pointer: GoodFor): Promise<AgentRuntime> {
    const { ownerId, agentId, agentVersion } = key;
    const name = (of: GoodFor) => `${agentId} ${agentVersion} ${of.keysRevision} ${of.pricesHash}`;
    const kept = versions.get(ownerId, name(pointer));
    if (kept) return kept;
    // The agent was there just now: its version has made room for others.
    const found = await read(key).catch((error) => {
      throw error instanceof ServiceError && error.kind === "not_found" ? notFound("Agent version") : error;
    });
    const keyed = await withKeys(ownerId, found);
    // A secret that is made later changes no revision.
    if (!keyed.llm || !lacksSecretKey(keyed.llm)) versions.set(ownerId, name(keyed), keyed, bytesOfValue(keyed));
    return keyed;
  }

  /** The revision was read before the secrets are revealed, so none of them is older. */
  async function withKeys(ownerId: string, agent: AgentRuntime): Promise<AgentRuntime> {
    return agent.llm ? { ...agent, llm: await withSecretKeys(reveal, ownerId, agent.llm) } : agent;
  }

  async function getDraft(ownerId: string, agentId: string, draftId: string): Promise<AgentRuntime> {
    const { runtime } = await client.getDraftRuntime({ ownerId, agentId, draftId });
    if (!runtime) throw notFound("Draft");
    return withKeys(ownerId, runtime);
  }

  async function choose(ownerId: string, agentId: string, wanted: Wanted): Promise<AgentRuntime> {
    if (wanted.draftId) return getDraft(ownerId, agentId, wanted.draftId);
    const pointer = await pointers.get(ownerId, agentId);
    const { latestVersion } = pointer;
    const agentVersion = wanted.latestVersion
      ? latestVersion
      : (wanted.agentVersion ?? chosenVersion(pointer, wanted.caller));
    if (agentVersion === undefined) throw new ServiceError("conflict", "Agent has no published version");
    if (agentVersion < 1 || agentVersion > latestVersion) throw notFound("Agent version");
    return getVersion({ ownerId, agentId, agentVersion }, pointer);
  }

  return {
    choose,
    async get(ownerId, agentId, { draftId, agentVersion }) {
      if (agentVersion === null) return choose(ownerId, agentId, { draftId, caller: { conversationId: "" } });
      return getVersion({ ownerId, agentId, agentVersion }, await pointers.get(ownerId, agentId));
    },
    check: pointers.get,
    getTool: async (ownerId, toolId) => (await client.getToolRuntime({ ownerId, toolId })).tool,
    reportMcpTools: (ownerId, toolId, tools) => client.reportMcpTools({ ownerId, toolId, tools: [...tools] }),
    close: stopObserving,
  };
}
