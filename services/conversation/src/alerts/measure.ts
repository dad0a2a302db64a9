import { nullIfNotFound } from "@parley/shared/errors";
import type { ConversationContext } from "../context.ts";
import type { AlertRow } from "../store/alerts.ts";
import { readRecentFigures } from "../store/figures/recent-figures.ts";
import { NO_FILTER } from "../store/lists/conversation-filter.ts";
import { findCountedPage } from "../store/lists/list-page.ts";

/** A metric in its window, and from how many things it is measured. */
export interface Measured {
  /** Null: there was nothing to measure. */
  value: number | null;
  count: number;
}

type MeasuringContext = Pick<ConversationContext, "db" | "countDeliveries" | "agents">;

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;

/** What an alert watches, in the minutes before `now`. @throws when it cannot be read now */
export async function measure(ctx: MeasuringContext, alert: AlertRow, now: Date): Promise<Measured> {
  const { ownerId, agentId, metric, windowMinutes } = alert;
  const since = new Date(now.getTime() - windowMinutes * MINUTE_MS);
  if (metric === "volume_drop") return measureDrop(ctx, alert, since, now);
  if (metric === "delivery_failed_share") {
    const { delivered, failed } = await ctx.countDeliveries({ ownerId, since });
    return share(failed, delivered + failed);
  }
  const figures = await readRecentFigures(ctx.db, ownerId, agentId, since);
  switch (metric) {
    case "failed_share":
      return share(figures.failed, figures.ended);
    case "tool_failed_share":
      return share(figures.failedToolCalls, figures.toolCalls);
    case "p95_latency_ms":
      return { value: figures.p95Ms, count: figures.measured };
    case "cost":
      return { value: figures.costUsdMicros / 1_000_000, count: figures.replies };
  }
}

function share(part: number, all: number): Measured {
  return { value: all === 0 ? null : part / all, count: all };
}

/** How far fewer conversations began than in the same window a week earlier, of which there must be enough. */
async function measureDrop(
  { db, agents }: MeasuringContext,
  { ownerId, agentId }: AlertRow,
  since: Date,
  now: Date,
): Promise<Measured> {
  // Otherwise a deleted agent has its alert open for a week.
  if (agentId !== null && (await agents.check(ownerId, agentId).catch(nullIfNotFound)) === null)
    return { value: null, count: 0 };
  const begun = async (from: Date, to: Date) => {
    const filter = { ...NO_FILTER, ownerId, agentId: agentId ?? "", isTest: false, from, to };
    return (await findCountedPage(db, filter, { number: 1, size: 1 })).total;
  };
  const weekBefore = (time: Date) => new Date(time.getTime() - WEEK_MS);
  const [before, lately] = await Promise.all([begun(weekBefore(since), weekBefore(now)), begun(since, now)]);
  // Of 10 and 8 exactly 0.2, which 1 - 8 / 10 is not.
  return { value: before === 0 ? null : Math.max(0, (before - lately) / before), count: before };
}
