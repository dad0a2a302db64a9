import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { LOCALE } from "../../ui/locale.ts";
import { onFirstUse } from "../../ui/numbers.ts";

export type Statistics = Schema["Statistics"];

export interface Period {
  /** How many days, today included. */
  days: number;
  agentId?: string;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 30_000;

/** The totals of the last days. Days begin and end in UTC. */
export function statisticsQuery({ days, agentId }: Period) {
  return queryOptions({
    queryKey: ["statistics", days, agentId ?? ""],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
      const query = { from, include: "cost" as const, ...(agentId && { agent_id: agentId }) };
      return read(signal, "/v1/manage/statistics", { query });
    },
    placeholderData: (before) => before,
    refetchInterval: EVERY_MS,
  });
}

const monthAndDay = onFirstUse(
  () => new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" }),
);

/** A day as an axis shows it. @param day YYYY-MM-DD */
export function shortDay(day: string): string {
  return monthAndDay().format(new Date(day));
}

/** The number of days in a page's address; 30 unless it is one of those offered. */
export const PERIODS = [7, 30, 90] as const;
export type Days = (typeof PERIODS)[number];
export function daysIn({ days }: Record<string, unknown>): { days?: Days } {
  const known = PERIODS.find((each) => each === Number(days));
  return known && known !== 30 ? { days: known } : {};
}
