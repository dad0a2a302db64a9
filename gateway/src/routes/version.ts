import type { AskedVersion } from "../schemas/agent-version.ts";

/** The version with which a conversation begins, as a service is asked for it: nothing for the published one. */
export function versionOf({ agent_version: asked }: AskedVersion): { agentVersion?: number; latestVersion?: boolean } {
  if (asked === undefined || asked === null || asked === "published") return {};
  return asked === "latest" ? { latestVersion: true } : { agentVersion: Number(asked) };
}
