import type postgres from "postgres";
import { type Begin, beginWith } from "./begin-with.ts";

type Database = postgres.Sql;
type Sql = postgres.Sql | postgres.TransactionSql;

const POOL = Symbol("pool");
const WAITING = Symbol("after commit");

type Waiting = (() => void)[];
type Known = Sql & { [POOL]?: Database; [WAITING]?: Waiting };

/** Makes `afterCommit` and `poolOf` work with the pool and its transactions. */
export function withAfterCommit(sql: postgres.Sql): postgres.Sql {
  const begin = beginWith(sql.begin.bind(sql) as Begin, async (work, run) => {
    const waiting: Waiting = [];
    const result = await run((tx) => work(know(tx, sql, waiting)));
    for (const call of waiting) call();
    return result;
  });
  return Object.assign(sql, { [POOL]: sql, begin });
}

/**
 * Calls a function when the transaction of `sql` has committed: when others see its changes and it holds no lock any more. After a
 * rollback it is not called, unless only a savepoint was rolled back. With a pool it is called at once, because each of its
 * statements is a transaction of its own. It is lost if the process dies in between.
 */
export function afterCommit(sql: Sql, run: () => void): void {
  const waiting = (sql as Known)[WAITING];
  if (waiting) waiting.push(run);
  else run();
}

/** The pool of a transaction, or the pool itself. @throws if `openDatabase` did not open it */
export function poolOf(sql: Sql): Database {
  const pool = (sql as Known)[POOL];
  if (!pool) throw new Error("Not a database of openDatabase, or a transaction of one");
  return pool;
}

function know(tx: postgres.TransactionSql, pool: Database, waiting: Waiting): postgres.TransactionSql {
  const savepoint = beginWith(tx.savepoint as Begin, (work, run) => run((inner) => work(know(inner, pool, waiting))));
  return Object.assign(tx, { [POOL]: pool, [WAITING]: waiting, savepoint });
}
