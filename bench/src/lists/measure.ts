import type { Case } from "./cases.ts";
import { requestOf } from "./cases.ts";
import type { SeededOwner } from "./seed.ts";
import type { ConversationClient } from "./service.ts";

/** The total of a case, and the durations of its calls in milliseconds, ascending. */
export interface Measured {
  total: number;
  ms: number[];
}

const ROUNDS = 100;
const ROUNDS_MIN = 1;
/** Time limit for one case and owner. */
const BUDGET_MS = 10_000;
const WARM_UP = 6;

/** Makes one call through the service's port. @returns its total, and its duration in milliseconds */
export async function callOnce(
  client: ConversationClient,
  ownerId: string,
  asked: Case,
): Promise<{ total: number; ms: number }> {
  const request = requestOf(ownerId, asked);
  const startedAt = performance.now();
  const { total } = asked.sessions
    ? await client.listChatSessions({ ownerId, agentId: request.agentId, page: request.page })
    : await client.listConversations(request);
  return { total, ms: performance.now() - startedAt };
}

/** Measures the same case of all owners in turn, so that disturbances affect all alike. */
export async function measureWarm(
  client: ConversationClient,
  owners: readonly SeededOwner[],
  asked: Case,
): Promise<Measured[]> {
  const measured = owners.map((): Measured & { spent: number } => ({ total: 0, ms: [], spent: 0 }));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [at, { ownerId }] of owners.entries()) {
      const figures = measured[at];
      if (!figures || (figures.spent > BUDGET_MS && figures.ms.length >= ROUNDS_MIN)) continue;
      const { total, ms } = await callOnce(client, ownerId, asked);
      figures.total = total;
      figures.spent += ms;
      // A case that takes seconds needs no warm-up.
      if (round >= 0 || figures.spent > BUDGET_MS / 10) figures.ms.push(ms);
    }
  }
  for (const { ms } of measured) ms.sort((a, b) => a - b);
  return measured;
}

/** The percentile of values in ascending order. */
export function percentile(ascending: readonly number[], percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? Number.NaN;
}
