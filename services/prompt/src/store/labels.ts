import type { Fragment, Sql } from "@parley/shared/db/database";

interface LabelKey {
  ownerId: string;
  promptName: string;
  label: string;
}

interface LabelRow {
  label: string;
  promptVersion: number;
  /** When it was set to this version. */
  updatedAt: Date;
}

/** The labels of a version, in order. @param version an item of `from` with the key of a version */
export function labelsOf(sql: Sql, version: Fragment): Fragment {
  return sql`
    array(
      select label from prompt_labels l
      where l.owner_id = ${version}.owner_id and l.prompt_name = ${version}.prompt_name
        and l.prompt_version = ${version}.prompt_version
      order by label
    )`;
}

/**
 * Locks a prompt against other changes of its labels, new versions and agents that begin to use it, until the end of the
 * transaction. Returns whether it exists.
 */
export async function lockPrompt(
  sql: Sql,
  { ownerId, promptName }: Pick<LabelKey, "ownerId" | "promptName">,
): Promise<boolean> {
  const rows = await sql`
    select 1 from prompts where owner_id = ${ownerId} and prompt_name = ${promptName} for no key update`;
  return rows.length > 0;
}

/** Sets a label of a locked prompt; one that the version has stays as it is. Returns null if there is no such version. */
export async function setLabel(
  sql: Sql,
  { ownerId, promptName, label }: LabelKey,
  promptVersion: number,
  now: Date,
): Promise<LabelRow | null> {
  const [row] = await sql<LabelRow[]>`
    insert into prompt_labels as l (owner_id, prompt_name, label, prompt_version, updated_at)
    select owner_id, prompt_name, ${label}, prompt_version, ${now} from prompt_versions
    where owner_id = ${ownerId} and prompt_name = ${promptName} and prompt_version = ${promptVersion}
    on conflict (owner_id, prompt_name, label) do update set prompt_version = excluded.prompt_version,
      updated_at = case l.prompt_version when excluded.prompt_version then l.updated_at else excluded.updated_at end
    returning label, prompt_version, updated_at`;
  return row ?? null;
}

/** The labels of a prompt, in order. */
export async function listLabels(
  sql: Sql,
  { ownerId, promptName }: Pick<LabelKey, "ownerId" | "promptName">,
): Promise<LabelRow[]> {
  return sql<LabelRow[]>`
    select label, prompt_version, updated_at from prompt_labels
    where owner_id = ${ownerId} and prompt_name = ${promptName} order by label`;
}

/** Returns whether the label existed. */
export async function deleteLabel(sql: Sql, { ownerId, promptName, label }: LabelKey): Promise<boolean> {
  const { count } = await sql`
    delete from prompt_labels where owner_id = ${ownerId} and prompt_name = ${promptName} and label = ${label}`;
  return count > 0;
}
