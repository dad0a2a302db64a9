import type { Fragment, Sql } from "@parley/shared/db/database";

/** Whether `version` is the newest of the row `agents`, the published one, or has a share of the traffic. */
export const inUse = (sql: Sql): Fragment => sql`(
  version.agent_version in (latest_version, published_version)
  or traffic -> 'slots' @> to_jsonb(version.agent_version)
)`;

/** Fields of an agent that refer to other objects. */
type Referring = "customTools" | "handoffs" | "knowledge" | "startWebhook" | "stt" | "llm" | "tts";

/**
 * Whether the row `agents` has one of these parts in its field, in its newest version or in another that is in use. Only agents whose
 * publishing is manual have such others.
 */
export function using(sql: Sql, ...uses: readonly [field: Referring, part: object][]): Fragment {
  const hasOne = (fieldIn: (field: Referring) => Fragment) =>
    uses
      .map(([field, part]) => sql`${fieldIn(field)} @> ${sql.json(part as never)}`)
      .reduce((some, next) => sql`${some} or ${next}`);
  return sql`(
    ${hasOne((field) => sql`${sql(field)}`)} or publishing = 'manual' and exists (
      select from agent_versions as version
      where version.owner_id = agents.owner_id and version.agent_id = agents.agent_id and ${inUse(sql)}
        and (${hasOne((field) => sql`version.content::jsonb -> ${field}`)})
    )
  )`;
}
