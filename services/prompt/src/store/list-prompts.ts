import type { Database, Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import type { PromptRow } from "./prompts.ts";

export interface PromptFilter {
  ownerId: string;
  /** Substring of name or content; empty for all. */
  search: string;
  /** Else every version is an item of its own. */
  latestOnly: boolean;
}

/** A page of an owner's prompts, newest first, and how many match in all. */
export async function listPromptRows(
  db: Database,
  filter: PromptFilter,
  page: { number: number; size: number },
): Promise<{ rows: PromptRow[]; total: number }> {
  // Page and total are of one moment.
  return db.begin("isolation level repeatable read read only", async (tx) => {
    const [, rows, [count]] = await Promise.all([
      // The plan that is good for any word reads everything; one made for this word uses the index.
      tx`set local plan_cache_mode = force_custom_plan`,
      selectPage(tx, filter, page),
      selectCount(tx, filter),
    ]);
    return { rows: [...rows], total: count?.total ?? 0 };
  });
}

const matching = (sql: Sql, { ownerId, search, latestOnly }: PromptFilter) => sql`
  from prompts p
  join prompt_versions v on v.owner_id = p.owner_id and v.prompt_name = p.prompt_name
    ${latestOnly ? sql`and v.prompt_version = p.latest_version` : sql``}
  where p.owner_id = ${ownerId}
    ${search === "" ? sql`` : sql`and (v.prompt_name ilike ${containing(search)} or v.content ilike ${containing(search)})`}`;

function selectPage(sql: Sql, filter: PromptFilter, page: { number: number; size: number }) {
  return sql<PromptRow[]>`
    select p.prompt_name, v.prompt_version, v.content as prompt_content, p.prompt_type,
      p.created_at, v.created_at as updated_at
    ${matching(sql, filter)}
    order by ${filter.latestOnly ? sql`p.updated_at desc, p.prompt_name` : sql`v.created_at desc, v.prompt_name, v.prompt_version desc`}
    limit ${page.size} offset ${(page.number - 1) * page.size}`;
}

function selectCount(sql: Sql, filter: PromptFilter) {
  if (filter.search !== "") return sql<{ total: number }[]>`select count(*) as total ${matching(sql, filter)}`;
  const table = filter.latestOnly ? sql`prompts` : sql`prompt_versions`;
  return sql<{ total: number }[]>`select count(*) as total from ${table} where owner_id = ${filter.ownerId}`;
}
