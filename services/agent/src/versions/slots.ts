import { invalid } from "@parley/shared/errors";
import type { TrafficShare } from "../store/agents.ts";

const SLOTS = 100;
const SHARES_MAX = 4;

/** @throws ServiceError invalid unless the shares are of 1 to 4 different versions and sum to 100 % */
export function checkSplit(split: readonly TrafficShare[]): void {
  if (split.length < 1 || split.length > SHARES_MAX) throw invalid("split", `split must have 1 to ${SHARES_MAX} items`);
  for (const [at, { agentVersion, weight }] of split.entries()) {
    if (split.findIndex((share) => share.agentVersion === agentVersion) !== at)
      throw invalid(`split.${at}.agent_version`, `split.${at}.agent_version must not be repeated: ${agentVersion}`);
    if (!Number.isInteger(weight) || weight < 1 || weight > SLOTS)
      throw invalid(`split.${at}.weight`, `split.${at}.weight must be a whole number from 1 to ${SLOTS}`);
  }
  const sum = split.reduce((total, { weight }) => total + weight, 0);
  if (sum !== SLOTS) throw invalid("split", `The weights of split must sum to ${SLOTS}, not ${sum}`);
}

/** The slots of an agent all of whose conversations get one version. */
export function allSlots(agentVersion: number): number[] {
  return Array<number>(SLOTS).fill(agentVersion);
}

/** The version of each slot after a change of the split. A slot moves only from a version that has too many to one that has too few. */
export function moveSlots(before: readonly number[], split: readonly TrafficShare[]): number[] {
  const missing = new Map(split.map(({ agentVersion, weight }) => [agentVersion, weight]));
  const kept = before.map((agentVersion) => {
    const left = missing.get(agentVersion) ?? 0;
    if (left > 0) missing.set(agentVersion, left - 1);
    return left > 0 ? agentVersion : null;
  });
  const fresh = [...missing].flatMap(([agentVersion, count]) => Array<number>(count).fill(agentVersion));
  return kept.map((agentVersion) => agentVersion ?? (fresh.shift() as number));
}
