import { invalid } from "@parley/shared/errors";
import type { ConversationContext, Handler } from "../context.ts";
import { daysOf } from "../statistics/days.ts";
import { tellVersionFigures } from "../statistics/tell-version-figures.ts";
import { versionFigures } from "../statistics/version-figures.ts";
import { listVersionFigures } from "../store/figures/version-figures.ts";

const VERSIONS_MAX = 100;

export function getVersionFigures(ctx: ConversationContext): Handler<"getVersionFigures"> {
  return async ({ ownerId, agentId, agentVersions, from, to }) => {
    if (agentVersions.length === 0 || agentVersions.length > VERSIONS_MAX) {
      throw invalid("agent_versions", `agent_versions must be 1 to ${VERSIONS_MAX}`);
    }
    const days = from || to ? daysOf(from, to) : null;
    const rows = await listVersionFigures(ctx.db, { ownerId, agentId, agentVersions, days });
    const byVersion = Map.groupBy(rows, ({ agentVersion }) => agentVersion);
    return {
      figures: agentVersions.map((version) =>
        tellVersionFigures(version, versionFigures(byVersion.get(version) ?? [])),
      ),
    };
  };
}
