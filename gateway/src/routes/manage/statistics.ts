import { presentStatistics } from "@parley/shared/domain/present/statistics";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { DAYS_MAX, periodOf } from "../../http/period.ts";
import { withoutCosts } from "../../present/statistics.ts";
import { Statistics, StatisticsQuery } from "../../schemas/manage/statistics.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function statisticsRoutes(gate: GateContext, { conversations }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/statistics" }).get(
    "/",
    ...route(
      {
        id: "getStatistics",
        summary: "Get outcomes, call time, tokens, cost and latency by day, agent and model",
        description: `Days are in UTC, at most ${DAYS_MAX} of them. Test conversations with a draft are not counted.`,
        query: StatisticsQuery,
        response: Statistics,
      },
      async ({ ownerId, query, origin }) => {
        const period = periodOf(query, gate.clock.now());
        const request = { ownerId, from: period.first, to: period.end, agentId: query.agent_id ?? "" };
        const statistics = presentStatistics(await conversations.getStatistics(request, { origin }), period);
        return query.include === "cost" ? statistics : withoutCosts(statistics);
      },
    ),
  );
}
