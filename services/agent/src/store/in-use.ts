import type { Fragment, Sql } from "@parley/shared/db/database";

/** Whether `version` is the newest of the row `agents`, the published one, or has a share of the traffic. */
export const inUse = (sql: Sql): Fragment => sql`(
  version.agent_version in (latest_version, published_version)
  or traffic -> 'slots' @> to_jsonb(version.agent_version)
)`;

/** Fields of an agent that refer to other objects. */
type Referring = "customTools" | "handoffs" | "knowledge" | "startWebhook";

/**
 * Whether the row `agents` has something in a field, in its newest version or in another that is in use. Only agents whose publishing is
 * manual have such others.
 */
export function using(sql: Sql, field: Referring, part: object): Fragment {
  const has = sql.json(part as never);
  return sql`(
    ${sql(field)} @> ${has} or publishing = 'manual' and exists (
      select from agent_versions as version
      where version.owner_id = agents.owner_id and version.agent_id = agents.agent_id and ${inUse(sql)}
        and version.content::jsonb -> ${field} @> ${has}
    )
  )`;
}
