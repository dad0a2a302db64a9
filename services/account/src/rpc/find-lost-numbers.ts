import type { AccountContext, Handler } from "../context.ts";
import { listLostNumbers } from "../store/mobile-numbers.ts";

/** Agents may answer numbers that no account has, such as those of a voice runtime, so only what was lost is told. */
export function findLostNumbers({ db }: AccountContext): Handler<"findLostNumbers"> {
  return async ({ ownerId, mobileNumbers }) => ({ mobileNumbers: await listLostNumbers(db, ownerId, mobileNumbers) });
}
