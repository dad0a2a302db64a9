import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sealer } from "@parley/shared/sealing";
import type { KeyAddress } from "../store/stored-keys.ts";

/**
 * The use of a model's key. A key sealed for one use opens for no other, so a writer to the database cannot have it sent
 * elsewhere.
 */
export interface KeyUse extends AgentKey, KeyAddress {}

export function useOf({ ownerId, agentId }: AgentKey, address: KeyAddress): KeyUse {
  return { ownerId, agentId, ...address };
}

export interface ModelKeys {
  seal(apiKey: string, use: KeyUse): string;
  /** @throws when the text was sealed for another use or with an unknown key, or was modified */
  open(sealed: string, use: KeyUse): string;
  /** Seals the key with the first encryption key; returns the text unchanged if that key sealed it. @throws as `open` does */
  reseal(sealed: string, use: KeyUse): string;
}

/** Seals the keys of agents' models. */
export function createModelKeys(sealer: Sealer): ModelKeys {
  return {
    seal: (apiKey, use) => sealer.seal(apiKey, contextOf(use)),
    open: (sealed, use) => sealer.open(sealed, contextOf(use)),
    reseal: (sealed, use) => {
      // Opened in any case, to notice a key that was moved.
      sealer.open(sealed, contextOf(use));
      return sealer.reseal(sealed, contextOf(use));
    },
  };
}

function contextOf({ ownerId, agentId, providerName, baseUrl }: KeyUse): string {
  return JSON.stringify(["llm.params.api_key", ownerId, agentId, providerName, baseUrl ?? null]);
}
