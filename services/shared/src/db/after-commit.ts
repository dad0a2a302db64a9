import type postgres from "postgres";

type Database = postgres.Sql;
type Sql = postgres.Sql | postgres.TransactionSql;

const POOL = Symbol("pool");
const WAITING = Symbol("after commit");

type Waiting = (() => void)[];
type Begin = (...args: unknown[]) => Promise<unknown>;
type Work = (tx: postgres.TransactionSql) => unknown;
type Known = Sql & { [POOL]?: Database; [WAITING]?: Waiting };

/** Makes `afterCommit` and `poolOf` work with the pool and its transactions. */
export function withAfterCommit(sql: postgres.Sql): postgres.Sql {
  const begin = sql.begin.bind(sql) as Begin;
  const knownBegin: Begin = async (...args) => {
    const work = args.pop() as Work;
    const waiting: Waiting = [];
    const result = await begin(...args, (tx: postgres.TransactionSql) => work(know(tx, sql, waiting)));
    for (const run of waiting) run();
    return result;
  };
  return Object.assign(sql, { [POOL]: sql, begin: knownBegin });
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
  const savepoint = tx.savepoint as Begin;
  const knownSavepoint: Begin = (...args) => {
    const work = args.pop() as Work;
    return savepoint(...args, (inner: postgres.TransactionSql) => work(know(inner, pool, waiting)));
  };
  return Object.assign(tx, { [POOL]: pool, [WAITING]: waiting, savepoint: knownSavepoint });
}
