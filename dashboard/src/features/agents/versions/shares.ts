import type { components } from "../../../api/gen/schema.ts";

export type Share = components["schemas"]["AgentTraffic"]["split"][number];

/** Versions that share the traffic, and the least share of one in percent. */
export const SHARES_MAX = 4;
const WEIGHT_MIN = 1;

/** The most that one of so many versions may have. */
export function weightMax(versions: number): number {
  return 100 - (versions - 1) * WEIGHT_MIN;
}

/** The split after the share of one version was changed: the others keep their proportions, and all sum to 100. */
export function reweighted(split: readonly Share[], agentVersion: number, weight: number): Share[] {
  const others = split.filter((share) => share.agent_version !== agentVersion);
  const given = Math.min(Math.max(Math.round(weight), WEIGHT_MIN), weightMax(split.length));
  const rest = summingTo(100 - given, others);
  return split.map(
    (share) => rest.find(({ agent_version }) => agent_version === share.agent_version) ?? { ...share, weight: given },
  );
}

/** The split with a version more, which gets a share of the others'. */
export function withVersion(split: readonly Share[], agentVersion: number, weight: number): Share[] {
  return reweighted([...split, { agent_version: agentVersion, weight: 0 }], agentVersion, weight);
}

/** The split without a version, whose share goes to the others. */
export function withoutVersion(split: readonly Share[], agentVersion: number): Share[] {
  return summingTo(
    100,
    split.filter((share) => share.agent_version !== agentVersion),
  );
}

/** Whole percents in the proportions of these, each the least share or more. What rounding leaves goes to those that it took most from. */
function summingTo(total: number, shares: readonly Share[]): Share[] {
  const free = total - shares.length * WEIGHT_MIN;
  const parts = shares.map(({ weight }) => Math.max(weight - WEIGHT_MIN, 0));
  const sum = parts.reduce((before, part) => before + part, 0);
  const exact = parts.map((part) => (sum === 0 ? free / shares.length : (free * part) / sum));
  const left = free - exact.reduce((before, part) => before + Math.floor(part), 0);
  const favored = exact
    .map((part, at) => ({ at, lost: part - Math.floor(part) }))
    .sort((a, b) => b.lost - a.lost)
    .slice(0, Math.round(left))
    .map(({ at }) => at);
  return shares.map((share, at) => ({
    ...share,
    weight: WEIGHT_MIN + Math.floor(exact[at] ?? 0) + (favored.includes(at) ? 1 : 0),
  }));
}
