import { invalid } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { PAGE_SIZE_MAX } from "@parley/shared/page";
import type { AccountContext, Handler } from "../context.ts";
import { toOwner } from "../convert.ts";
import { listOwners as listOwnerRows } from "../store/owners.ts";

/** Newest first. */
export function listOwners(ctx: AccountContext): Handler<"listOwners"> {
  return async ({ pageSize, afterOwnerId }) => {
    if (pageSize < 0 || pageSize > PAGE_SIZE_MAX) {
      throw invalid("page_size", `page_size must be from 1 to ${PAGE_SIZE_MAX}`);
    }
    if (afterOwnerId !== "" && !isId("own", afterOwnerId)) {
      throw invalid("after_owner_id", "after_owner_id must be the last owner_id of the previous page");
    }
    const rows = await listOwnerRows(ctx.db, afterOwnerId, pageSize || PAGE_SIZE_MAX);
    return { owners: rows.map(toOwner) };
  };
}
