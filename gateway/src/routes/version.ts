import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Clients } from "../clients.ts";
import { required } from "../present/required.ts";
import type { AskedVersion } from "../schemas/agent-version.ts";

/** The version with which a conversation begins, as a service is asked for it: nothing for the published one. */
export function versionOf({ agent_version: asked }: AskedVersion): { agentVersion?: number; latestVersion?: boolean } {
  if (asked === undefined || asked === null || asked === "published") return {};
  return asked === "latest" ? { latestVersion: true } : { agentVersion: Number(asked) };
}

/** The version that is tested or tried, as the agent service is asked for it: 0 for the published one, nothing for the newest. */
export function testedVersionOf({ agent_version: asked }: AskedVersion): number | undefined {
  if (asked === undefined || asked === null || asked === "latest") return undefined;
  return asked === "published" ? 0 : Number(asked);
}

/**
 * An agent as one of its versions has it.
 * @param agent as its newest version has it
 * @param asked a number, `published` or `latest`
 * @throws ServiceError not_found for a version that there is not, conflict if none is published
 */
export async function inVersion(
  { agents }: Pick<Clients, "agents">,
  agent: Agent,
  asked: string,
  origin: CallOrigin,
): Promise<Agent> {
  if (asked === "latest") return agent;
  const agentVersion = asked === "published" ? agent.publishedVersion : Number(asked);
  if (agentVersion === undefined) throw new ServiceError("conflict", "Agent has no published version");
  if (agentVersion === agent.agentVersion) return agent;
  const { ownerId, agentId } = agent;
  const { version } = await agents.getAgentVersion({ ownerId, agentId, agentVersion }, { origin });
  return required(version?.agent);
}
