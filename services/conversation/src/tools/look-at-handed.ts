import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@parley/shared/db/database";
import { type HandedCall, listHandedCallsByKey } from "../store/turns/handed-calls.ts";
import type { ToolCallKey } from "../store/turns/tool-ledger.ts";

/** Half of the pause after which a result is told, because any process may store it. */
export const LOOK_MS = 250;

/** Looks at a call that a client makes, at the next time that this process looks at all that it waits for; null if it was deleted. */
type LookAtHanded = (key: ToolCallKey) => Promise<HandedCall | null>;

/** One statement for all calls, however many a process waits for. */
export function lookAtHanded(db: Database): LookAtHanded {
  let waiting: ToolCallKey[] = [];
  let next: Promise<ReadonlyMap<string, HandedCall>> | null = null;

  async function look(): Promise<ReadonlyMap<string, HandedCall>> {
    await sleep(LOOK_MS);
    const keys = waiting;
    waiting = [];
    next = null;
    const found = await listHandedCallsByKey(db, keys);
    return new Map(found.map((call) => [idOf(call), call]));
  }

  return async (key) => {
    waiting.push(key);
    next ??= look();
    return (await next).get(idOf(key)) ?? null;
  };
}

function idOf({ ownerId, conversationId, toolCallId }: ToolCallKey): string {
  return `${ownerId} ${conversationId} ${toolCallId}`;
}
