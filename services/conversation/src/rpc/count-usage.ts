import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { listUsage } from "../store/usage.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["countUsage"]>;

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;

export function countUsage(ctx: ConversationContext): Handler {
  return async ({ ownerId, from, to }) => {
    const first = dayOf("from", from);
    const end = dayOf("to", to);
    if (end <= first || end - first > DAYS_MAX) throw invalid("to", `to must be 1 to ${DAYS_MAX} days after from`);
    return { days: await listUsage(ctx.db, ownerId, dateOf(first), dateOf(end - 1)) };
  };
}

/** Days since 1970. @throws ServiceError invalid unless the time is midnight UTC with a four-digit year */
function dayOf(name: string, time: Date | undefined): number {
  const day = (time?.getTime() ?? Number.NaN) / DAY_MS;
  if (!Number.isInteger(day) || !/^\d{4}-/.test(dateOf(day))) throw invalid(name, `${name} must be midnight UTC`);
  return day;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
