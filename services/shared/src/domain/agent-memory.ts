import type { ChangedKey } from "@parley/proto/parley/common/v1/changes.ts";
import { type Subscription, subscribe, type Watch } from "../changes/subscribe.ts";
import type { Logger } from "../log.ts";
import { ownerCache } from "../shares/owner-cache.ts";
import { observeHeldBytes } from "../telemetry/held-bytes.ts";

/** Reads agents and remembers them for as long as the agent and prompt services report every change. */
export interface AgentMemory<A> {
  /**
   * The agent as it is now, with every write that was answered before this call.
   * @throws what `read` throws
   */
  get(ownerId: string, agentId: string): Promise<A>;
  close(): void;
}

export interface AgentMemorySettings<A> {
  /** Reads an agent from the service itself. @throws ServiceError forbidden, not_found, … which are not remembered */
  read(ownerId: string, agentId: string): Promise<A>;
  watchAgents: Watch;
  watchPrompts: Watch;
  /** The name of the prompt whose text the agent has; undefined without one, which another prompt may give it. */
  promptNameOf(agent: A): string | undefined;
  /** Bytes of memory that an agent occupies. */
  bytesOf(agent: A): number;
  log: Logger;
}

/** Room for about 8,000 agents with prompts of 1,000 tokens, and for 1,000 of one owner. */
const TOTAL_BYTES = 64 * 1024 * 1024;
const OWNER_BYTES = 8 * 1024 * 1024;

/** A read that a change has overtaken is not remembered. */
interface Reading {
  isStale: boolean;
}

export function rememberAgents<A>(settings: AgentMemorySettings<A>): AgentMemory<A> {
  const { read, promptNameOf, bytesOf, watchAgents, watchPrompts, log } = settings;
  const cache = ownerCache<A>({ totalBytes: TOTAL_BYTES, ownerBytes: OWNER_BYTES });
  const readings = new Map<string, Set<Reading>>();

  const spoil = (ownerId: string) => {
    for (const reading of readings.get(ownerId) ?? []) reading.isStale = true;
  };
  const onEverything = () => {
    cache.clear();
    for (const ownerId of readings.keys()) spoil(ownerId);
  };
  const onAgent = ({ ownerId, name }: ChangedKey) => {
    cache.delete(ownerId, name);
    spoil(ownerId);
  };
  const onPrompt = ({ ownerId, name }: ChangedKey) => {
    cache.deleteWhere(ownerId, (agent) => (promptNameOf(agent) ?? name) === name);
    spoil(ownerId);
  };
  const subscriptions: Subscription[] = [
    subscribe({ what: "agents", watch: watchAgents, onChange: onAgent, onEverything, log }),
    subscribe({ what: "prompts", watch: watchPrompts, onChange: onPrompt, onEverything, log }),
  ];
  const stopObserving = observeHeldBytes("agents", cache.heldBytes);

  async function readAnew(ownerId: string, agentId: string): Promise<A> {
    const reading: Reading = { isStale: false };
    const ofOwner = readings.get(ownerId) ?? new Set();
    readings.set(ownerId, ofOwner.add(reading));
    try {
      const agent = await read(ownerId, agentId);
      if (!reading.isStale) cache.set(ownerId, agentId, agent, bytesOf(agent));
      return agent;
    } finally {
      ofOwner.delete(reading);
      if (ofOwner.size === 0) readings.delete(ownerId);
    }
  }

  return {
    async get(ownerId, agentId) {
      // All of them are used, so that all ask for a lease, not one after the other.
      const areCurrent = subscriptions.map((subscription) => subscription.isCurrent());
      const isCurrent = areCurrent.every(Boolean);
      return (isCurrent && cache.get(ownerId, agentId)) || readAnew(ownerId, agentId);
    },
    close() {
      stopObserving();
      for (const subscription of subscriptions) subscription.close();
    },
  };
}
