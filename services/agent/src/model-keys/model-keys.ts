import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sealer } from "@parley/shared/sealing";

/** What a model's key is for: sealed for one use it opens for no other, so whoever writes the database cannot have it sent elsewhere. */
export interface KeyUse extends AgentKey {
  providerName: string;
  baseUrl: string | undefined;
}

export interface ModelKeys {
  seal(apiKey: string, use: KeyUse): string;
  /** @throws when the text was sealed for another use or with a key that is not given, or was changed */
  open(sealed: string, use: KeyUse): string;
  /** The same key as `seal` would seal it now; the text as it is when that was so. @throws as `open` */
  reseal(sealed: string, use: KeyUse): string;
}

/** Before what the sealer wrote; a text without it is of releases that sealed keys for an owner alone. */
const BOUND = "use.";

/**
 * Seals the keys of agents' models. Opens those of earlier releases too, which are bound to their owner only.
 * @param unbound seals as those releases do, which can then read the keys (docs/operations.md: Keys bound to their agents)
 */
export function createModelKeys(sealer: Sealer, { unbound }: { unbound: boolean }): ModelKeys {
  const seal: ModelKeys["seal"] = (apiKey, use) =>
    unbound ? sealer.seal(apiKey, use.ownerId) : BOUND + sealer.seal(apiKey, contextOf(use));
  const open: ModelKeys["open"] = (sealed, use) =>
    sealed.startsWith(BOUND)
      ? sealer.open(sealed.slice(BOUND.length), contextOf(use))
      : sealer.open(sealed, use.ownerId);
  const reseal: ModelKeys["reseal"] = (sealed, use) => {
    // Opened in any case, so that a key that was moved is noticed.
    const apiKey = open(sealed, use);
    if (sealed.startsWith(BOUND) === unbound) return seal(apiKey, use);
    return unbound
      ? sealer.reseal(sealed, use.ownerId)
      : BOUND + sealer.reseal(sealed.slice(BOUND.length), contextOf(use));
  };
  return { seal, open, reseal };
}

function contextOf({ ownerId, agentId, providerName, baseUrl }: KeyUse): string {
  return JSON.stringify(["llm.params.api_key", ownerId, agentId, providerName, baseUrl ?? null]);
}
