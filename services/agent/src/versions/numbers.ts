import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { Actor } from "@parley/shared/rpc/actor";
import { later } from "../changed-agent.ts";
import { getLockedAgentRow } from "../read-agents.ts";
import { type AgentRow, updateAgentRow } from "../store/agents.ts";
import { findAnswering, listAnswering } from "../store/called-agents.ts";
import { storeVersion } from "./store-version.ts";

interface Answering {
  /** Whether it takes over those that other agents answer. */
  move: boolean;
  actor: Actor;
  now: Date;
}

/**
 * Makes the numbers of an agent whose changes take effect at once its own. The owner's stored bytes must be locked.
 * @throws ServiceError conflict if another agent of the owner answers one of them: a call could be for either; invalid if the agent cannot
 * take them over, because it has to be published first
 */
export async function answerNumbers(tx: Sql, row: AgentRow, { move, ...facts }: Answering): Promise<void> {
  if (row.publishing === "manual") {
    if (move) throw invalid("move_numbers", "move_numbers must be false for an agent whose publishing is manual");
    return;
  }
  const added = row.agentMobileNumbers.filter((number) => !row.publishedNumbers.includes(number));
  if (added.length === 0) return;
  if (move) return freeNumbers(tx, row, added, facts);
  const fault = await takenNumber(tx, row, added);
  if (fault) throw new ServiceError("conflict", `${fault}: take it over with ?move_numbers=true`);
}

/** Which of the numbers another agent of the owner answers, as a clause; null if none does. */
export async function takenNumber(tx: Sql, agent: AgentKey, numbers: readonly string[]): Promise<string | null> {
  const other = await findAnswering(tx, agent, numbers);
  if (!other) return null;
  const taken = numbers.find((number) => other.publishedNumbers.includes(number));
  return `agent_mobile_number ${taken} is already answered by the agent ${other.agentId}`;
}

/**
 * Takes the numbers away from the owner's other agents: at once from what they answer, and by a new version of each that still has one of
 * them in its newest.
 */
async function freeNumbers(
  tx: Sql,
  agent: AgentKey,
  numbers: readonly string[],
  { actor, now }: Omit<Answering, "move">,
): Promise<void> {
  const without = (had: readonly string[]) => had.filter((number) => !numbers.includes(number));
  for (const key of await listAnswering(tx, agent, numbers)) {
    const before = await getLockedAgentRow(tx, key);
    const row: AgentRow = {
      ...before,
      agentMobileNumbers: without(before.agentMobileNumbers),
      publishedNumbers: without(before.publishedNumbers),
      updatedAt: later(now, before.updatedAt),
    };
    const isNew = row.agentMobileNumbers.length < before.agentMobileNumbers.length;
    await updateAgentRow(tx, isNew ? await storeVersion(tx, row, { note: null, actor, now }) : row);
  }
}
