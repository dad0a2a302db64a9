import type { Fragment, Sql } from "@parley/shared/db/database";
import { labelsOf } from "./labels.ts";

/**
 * A select of an owner's versions of prompts with their texts, as `PromptRow`. Each is looked up, because a join may read all that the
 * owner has while the planner expects few; `offset 0` keeps it so.
 * @param chosen an item of `from` with `prompt_name` and `prompt_version`
 */
export function lookUpPrompts(sql: Sql, ownerId: string, chosen: Fragment): Fragment {
  return sql`
    select chosen.prompt_name, chosen.prompt_version, content as prompt_content, prompt_type,
      prompt.created_at, version.created_at as updated_at, ${labelsOf(sql, sql`version`)} as labels
    from ${chosen} as chosen cross join lateral (
      select owner_id, prompt_name, prompt_version, content, created_at from prompt_versions
      where owner_id = ${ownerId} and prompt_name = chosen.prompt_name and prompt_version = chosen.prompt_version
      offset 0
    ) as version cross join lateral (
      select prompt_type, created_at from prompts
      where owner_id = ${ownerId} and prompt_name = chosen.prompt_name
      offset 0
    ) as prompt`;
}
