import { invalid } from "@parley/shared/errors";
import { pageOf } from "@parley/shared/page";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { ALL, listDoNotCall as listNumbers } from "../store/do-not-call.ts";

export function listDoNotCall(ctx: OutboundContext): Handler<"listDoNotCall"> {
  return async ({ ownerId, page, search }) => listNumbers(ctx.db, { ownerId, begins: beginning(search) }, pageOf(page));
}

/** How people write numbers, and a plus as a query that does not encode it has it. */
const BETWEEN_DIGITS = /[\s().\-/]/g;
const BEGINNING = /^\+?([1-9]\d{0,14})$/;

/** The beginning of E.164 numbers that a search means. @throws ServiceError invalid */
function beginning(search: string): string {
  if (search === "") return ALL;
  const [, digits] = BEGINNING.exec(search.replaceAll(BETWEEN_DIGITS, "")) ?? [];
  if (!digits) throw invalid("search", "search must be a phone number in E.164 form or its beginning, such as +1415");
  return `+${digits}`;
}
