import type { Database } from "@parley/shared/db/database";

/** SQL expressions of columns: of `n`, the row's number, and its `owner` and time `at`. The others get a value of their type. */
export type Columns = Readonly<Record<string, string>>;

/** Rows of other owners, far in the future. */
const OTHERS = { from: 1, to: 5, at: "2099-01-01" };
const FIRST = OTHERS.to + 1;

/** Inserts a few rows, each of another owner. @param like the start of their owners' ids */
export async function insertOthers(db: Database, table: string, columns: Columns, like: string): Promise<void> {
  await insertRows(db, table, columns, { ...OTHERS, owner: `'${like}' || n` });
}

/** Inserts rows of an owner, a second apart from 2020 on. */
export async function insertOwned(
  db: Database,
  table: string,
  columns: Columns,
  { ownerId, count }: { ownerId: string; count: number },
): Promise<void> {
  await insertRows(db, table, columns, {
    from: FIRST,
    to: FIRST + count - 1,
    owner: `'${ownerId}'`,
    at: "2020-01-01",
  });
}

/** The texts, as `Columns` fill them in, of an owner's first rows. */
export function firstTexts(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(FIRST + at).padStart(8, "0"));
}

interface Rows {
  from: number;
  to: number;
  owner: string;
  at: string;
}

async function insertRows(db: Database, table: string, columns: Columns, { from, to, owner, at }: Rows): Promise<void> {
  const needed = await db<{ name: string; type: string }[]>`
    select column_name as name, udt_name as type from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_nullable = 'NO' and column_default is null
      and is_generated = 'NEVER' and is_identity = 'NO'`;
  const values: Record<string, string> = Object.fromEntries(
    needed.map(({ name, type }) => [name, standIn(name, type)]),
  );
  Object.assign(values, columns);
  await db.unsafe(`
    insert into ${table} (${Object.keys(values)}) select ${Object.values(values)} from (
      select n, ${owner} as owner, '${at}'::timestamptz + n * interval '1 second' as at from generate_series(${from}, ${to}) as n
    ) as rows`);
}

function standIn(name: string, type: string): string {
  if (name === "owner_id") return "owner";
  const values: Record<string, string> = {
    text: "lpad(n::text, 8, '0')",
    uuid: "lpad(to_hex(n), 32, '0')::uuid",
    timestamptz: "at",
    date: "at::date + n",
    bytea: "int4send(n)",
    bool: "false",
    json: "'{}'",
    jsonb: "'{}'",
  };
  return values[type] ?? "1";
}
