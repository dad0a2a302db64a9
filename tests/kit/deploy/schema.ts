import type { Sql } from "@parley/shared/db/database";

/** All that the schema of the connection's role has, a line each, without the order of columns and the ledger. */
export async function schemaOf(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with relations as (
      select * from pg_class where relnamespace = current_schema()::regnamespace and relname <> 'migrations'
    )
    select concat_ws(' | ', relname, relkind, relpersistence, reloptions) as line from relations where relkind in ('r', 'p', 'v', 'S')
    union all
    select concat_ws(' | ', relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attidentity,
      attgenerated, attstorage, attstattarget)
    from pg_attribute join relations on relations.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relkind in ('r', 'p', 'v') and attnum > 0 and not attisdropped
    union all
    select concat_ws(' | ', relname, conname, replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID', ''))
    from pg_constraint join relations on relations.oid = conrelid
    union all
    select concat_ws(' | ', relname, pg_get_indexdef(indexrelid), indisvalid) from pg_index join relations on relations.oid = indrelid
    union all
    select concat_ws(' | ', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    from pg_trigger join relations on relations.oid = tgrelid where not tgisinternal
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace
    union all
    select concat_ws(' | ', viewname, definition) from pg_views where schemaname = current_schema()
    order by line`;
  return rows.map(({ line }) => line);
}
