import type { ConversationContext, Handler } from "../context.ts";
import { compareVersions as differencesOf } from "../statistics/compare-versions.ts";
import { daysOf } from "../statistics/days.ts";
import { tellVersionFigures } from "../statistics/tell-version-figures.ts";
import { versionFigures } from "../statistics/version-figures.ts";
import { listVersionFigures } from "../store/figures/version-figures.ts";

export function compareVersions(ctx: ConversationContext): Handler<"compareVersions"> {
  return async ({ ownerId, agentId, a, b, from, to }) => {
    const days = from || to ? daysOf(from, to) : null;
    const rows = await listVersionFigures(ctx.db, { ownerId, agentId, agentVersions: [a, b], days });
    const of = (version: number) => versionFigures(rows.filter(({ agentVersion }) => agentVersion === version));
    const [ofA, ofB] = [of(a), of(b)];
    return {
      a: tellVersionFigures(a, ofA),
      b: tellVersionFigures(b, ofB),
      differences: differencesOf(ofA, ofB).map(({ figure, difference, interval, verdict }) => ({
        figure,
        difference: difference ?? undefined,
        low: interval?.low,
        high: interval?.high,
        verdict: verdict ?? undefined,
      })),
    };
  };
}
