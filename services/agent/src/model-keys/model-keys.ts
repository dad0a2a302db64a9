import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sealer } from "@parley/shared/sealing";

/**
 * The use of a model's key. A key sealed for one use opens for no other, so a writer to the database cannot have it sent
 * elsewhere.
 */
export interface KeyUse extends AgentKey {
  providerName: string;
  baseUrl: string | undefined;
}

export interface ModelKeys {
  seal(apiKey: string, use: KeyUse): string;
  /** @throws when the text was sealed for another use or with an unknown key, or was modified */
  open(sealed: string, use: KeyUse): string;
  /**
   * Seals the key as `seal` would now; returns the text unchanged if it is sealed that way already. @throws as `open`
   * does
   */
  reseal(sealed: string, use: KeyUse): string;
}

/** Prefix of the sealed text; texts without it are from releases that sealed keys for an owner only. */
const BOUND = "use.";

/**
 * Seals the keys of agents' models. Also opens those of earlier releases, which are bound to their owner only.
 * @param unbound seals as those releases do, so that they can read the keys (docs/operations.md: Keys bound to their
 * agents)
 */
export function createModelKeys(sealer: Sealer, { unbound }: { unbound: boolean }): ModelKeys {
  const seal: ModelKeys["seal"] = (apiKey, use) =>
    unbound ? sealer.seal(apiKey, use.ownerId) : BOUND + sealer.seal(apiKey, contextOf(use));
  const open: ModelKeys["open"] = (sealed, use) =>
    sealed.startsWith(BOUND)
      ? sealer.open(sealed.slice(BOUND.length), contextOf(use))
      : sealer.open(sealed, use.ownerId);
  const reseal: ModelKeys["reseal"] = (sealed, use) => {
    // Opened in any case, to notice a key that was moved.
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
