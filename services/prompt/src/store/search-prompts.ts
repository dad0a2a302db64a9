import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Database, Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import { codePoints } from "@parley/shared/text/length";
import { lookUpPrompts } from "./look-up-prompts.ts";
import type { FoundPage, Page, PromptFilter, PromptRow } from "./prompts.ts";

/** Texts as short as this are found by reading: they have no whole trigram. */
const UNINDEXED_LENGTH = 2;

/**
 * A page of the prompts whose name or content contains a text, and their total number. Reads each text once, and those of the
 * page again. Short ones are found in the trigram index (0001_prompt). Long ones take about 2 ms each, so only those that
 * count are read; the query forces this because the planner does not know their cost.
 */
export async function findSearchedPage(db: Database, filter: PromptFilter, page: Page): Promise<FoundPage> {
  return db.begin("read only", async (tx) => {
    return readCountedPage<PromptRow>(tx, {
      from: tx`
        found as materialized (
          select prompt_name, prompt_version, created_at from prompt_versions
          where owner_id = ${filter.ownerId} and octet_length(content) <= 16384 and ${matching(tx, filter)}
          union all
          ${matchingLong(tx, filter)}
        ),
        matched as materialized (${matched(tx, filter)}),
        chosen as materialized (
          select prompt_name, prompt_version from matched
          order by created_at desc, prompt_name, prompt_version desc
          limit ${page.size} offset ${(page.number - 1) * page.size}
        ),`,
      total: tx`select count(*) from matched`,
      rows: lookUpPrompts(tx, filter.ownerId, tx`chosen`),
      bytes: tx`octet_length(prompt_content)`,
      order: tx`order by updated_at desc, prompt_name, prompt_version desc`,
    });
  });
}

function matched(sql: Sql, { ownerId, latestOnly }: PromptFilter) {
  if (!latestOnly) return sql`select prompt_name, prompt_version, created_at from found`;
  // Grouped, because a join may compare each match with each prompt while the planner expects few.
  return sql`
    select prompt_name, prompt_version, max(created_at) as created_at
    from (
      select prompt_name, prompt_version, created_at from found
      union all
      select prompt_name, latest_version, null from prompts where owner_id = ${ownerId}
    ) as found_and_latest
    group by prompt_name, prompt_version having count(*) = 2`;
}

function matching(sql: Sql, filter: PromptFilter) {
  return codePoints(filter.search) <= UNINDEXED_LENGTH ? containedIn(sql, filter) : isLike(sql, filter);
}

/** Without an index: most texts have a letter in lower case, and are then not converted, which takes ten times as long. */
function containedIn(sql: Sql, filter: PromptFilter) {
  return sql`(strpos(content, lower(${filter.search}::text)) > 0 or ${isLike(sql, filter)})`;
}

function isLike(sql: Sql, { search }: PromptFilter) {
  return sql`(prompt_name ilike ${containing(search)} or content ilike ${containing(search)})`;
}

function matchingLong(sql: Sql, filter: PromptFilter) {
  if (!filter.latestOnly) {
    return sql`
      select prompt_name, prompt_version, created_at from prompt_versions
      where owner_id = ${filter.ownerId} and octet_length(content) > 16384 and ${containedIn(sql, filter)}`;
  }
  return sql`
    select prompt_name, prompt_version, created_at
    from (
      select version.prompt_name, version.prompt_version, version.created_at, version.content
      from prompts cross join lateral (
        select * from prompt_versions
        where owner_id = prompts.owner_id and prompt_name = prompts.prompt_name
          and prompt_version = prompts.latest_version and octet_length(content) > 16384
      ) as version
      where prompts.owner_id = ${filter.ownerId}
      -- Keeps the search behind the choice of versions.
      offset 0
    ) as latest
    where ${containedIn(sql, filter)}`;
}
