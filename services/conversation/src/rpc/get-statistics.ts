import { CONVERSATION_TYPES } from "@parley/shared/domain/api-names";
import type { ConversationContext, Handler } from "../context.ts";
import { daysOf } from "../statistics/days.ts";
import { type FigureRow, listFigures, listLatencies } from "../store/figures/figures.ts";

/** Agents, and models, in one response. */
const SHOWN_MAX = 100;

export function getStatistics(ctx: ConversationContext): Handler<"getStatistics"> {
  return async ({ ownerId, from, to, agentId }) => {
    const filter = { ownerId, agentId, ...daysOf(from, to) };
    const [figures, latencies] = await Promise.all([
      listFigures(ctx.db, filter, SHOWN_MAX),
      listLatencies(ctx.db, filter),
    ]);
    const most = (rows: FigureRow[], figure: "begun" | "replies") =>
      rows.sort((one, other) => other[figure] - one[figure]);
    return {
      channels: figures.flatMap(({ day, type, ...row }) =>
        day !== null && type !== null ? { day, type: CONVERSATION_TYPES[type], figures: row } : [],
      ),
      agents: most(
        figures.filter((row) => row.agentId !== null),
        "begun",
      ).map(({ agentId: id, ...row }) => ({ agentId: id ?? "", figures: row })),
      models: most(
        figures.filter((row) => row.provider !== null),
        "replies",
      ).map(({ provider, model, ...row }) => ({ providerName: provider ?? "", modelName: model ?? "", figures: row })),
      latencies: latencies.map(({ day, ...row }) => ({ ...row, day: day ?? "" })),
    };
  };
}
