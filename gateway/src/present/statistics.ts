import type { PresentedStatistics } from "@parley/shared/domain/present/statistics";

/** The statistics for a request that does not include costs. */
export function withoutCosts({ days, total, agents, models }: PresentedStatistics) {
  return {
    days: days.map((day) => ({ ...day, channels: day.channels.map(costless) })),
    total: costless(total),
    agents: agents.map(costless),
    models: models.map(costless),
  };
}

interface Costs {
  cost_usd_micros: number;
  unpriced_replies: number;
}

function costless<F extends Costs>({ cost_usd_micros: _, unpriced_replies: __, ...figures }: F): Omit<F, keyof Costs> {
  return figures;
}
