import { invalid } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readDate } from "../../http/date.ts";
import { presentUsage } from "../../present/usage.ts";
import { UsageQuery } from "../../schemas/manage.ts";
import { Usage } from "../../schemas/managed.ts";
import { endpoint } from "../endpoint.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

export function usageRoutes(gate: GateContext, { conversations }: Clients) {
  return new Elysia({ prefix: "/v1/manage/usage" }).get(
    "/",
    ...endpoint(
      gate,
      {
        id: "getUsage",
        tag: "Management",
        summary: "Count conversations, replies and tokens by day",
        description: `Days are those of UTC, at most ${DAYS_MAX} of them.`,
        scope: "session",
        query: UsageQuery,
        response: Usage,
      },
      async ({ ownerId, query, origin }) => {
        const { first, last } = periodOf(query, gate.clock.now());
        const end = new Date(last.getTime() + DAY_MS);
        const { days } = await conversations.countUsage({ ownerId, from: first, to: end }, { origin });
        return presentUsage(days);
      },
    ),
  );
}

/** @throws ServiceError invalid for days that do not exist, the wrong way round, or too many */
function periodOf({ from, to }: { from?: string; to?: string }, now: Date): { first: Date; last: Date } {
  const last = readDate("to", to ?? now.toISOString().slice(0, 10));
  // So that the days around it can be told too.
  const year = last.getUTCFullYear();
  if (year < 1970 || year > 9998) throw invalid("to", "to must be between the years 1970 and 9998");
  const first = from ? readDate("from", from) : new Date(last.getTime() - (DAYS_DEFAULT - 1) * DAY_MS);
  if (first > last) throw invalid("from", "from must not be after to");
  if (last.getTime() - first.getTime() >= DAYS_MAX * DAY_MS) {
    throw invalid("from", `from must be at most ${DAYS_MAX} days before the end of to`);
  }
  return { first, last };
}
