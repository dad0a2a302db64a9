import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { compareVersions as differencesOf } from "../statistics/compare-versions.ts";
import { daysOf } from "../statistics/days.ts";
import { tellVersionFigures } from "../statistics/tell-version-figures.ts";
import { versionFigures } from "../statistics/version-figures.ts";
import { listVersionFigures } from "../store/figures/version-figures.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["compareVersions"]>;

export function compareVersions(ctx: ConversationContext): Handler {
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
