import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { DAYS_MAX, periodOf } from "../../http/period.ts";
import { presentUsage } from "../../present/usage.ts";
import { Usage, UsageQuery } from "../../schemas/manage/usage.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function usageRoutes(gate: GateContext, { conversations }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/usage" }).get(
    "/",
    ...route(
      {
        id: "getUsage",
        summary: "Count conversations, replies, tokens and cost by day",
        description: `Days are in UTC, at most ${DAYS_MAX} of them.`,
        query: UsageQuery,
        response: Usage,
      },
      async ({ ownerId, query, origin }) => {
        const { first, end } = periodOf(query, gate.clock.now());
        const counted = await conversations.countUsage({ ownerId, from: first, to: end }, { origin });
        return presentUsage(counted, query.include === "cost");
      },
    ),
  );
}
