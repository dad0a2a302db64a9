import { invalid } from "@parley/shared/errors";
import type { AgentRow } from "../store/agents.ts";

const FIELD = "tools.transfer_call";
const OF_WARM = ["briefing", "hold_sound", "accept_seconds"];

/** @throws ServiceError invalid if the agent cannot make the warm transfers that its tools describe */
export function checkTransfer({ tools }: Pick<AgentRow, "tools">): void {
  const config = (tools as Record<string, unknown> | null)?.transfer_call;
  if (typeof config !== "object" || config === null) return;
  const given = config as Record<string, unknown>;
  if (given.mode !== "warm") {
    const [field] = OF_WARM.filter((each) => given[each] !== undefined);
    if (field) throw invalid(`${FIELD}.${field}`, `${FIELD}.${field} is for warm transfers only: set mode to "warm"`);
    return;
  }
  if (given.briefing === undefined)
    throw invalid(
      `${FIELD}.briefing`,
      `${FIELD}.briefing is required for warm transfers: what the person is told first`,
    );
}
