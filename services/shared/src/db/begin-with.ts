import type postgres from "postgres";

/** What a transaction or a savepoint does. */
type Work = (tx: postgres.TransactionSql) => unknown;
/** `begin` of a pool or `savepoint` of a transaction, which takes its work last. */
export type Begin = (...args: unknown[]) => Promise<unknown>;

/** Makes a `begin` or a `savepoint` run its work through `around`, which calls `run` once, with the work or what wraps it. */
export function beginWith(
  begin: Begin,
  around: (work: Work, run: (wrapped: Work) => Promise<unknown>) => Promise<unknown>,
): Begin {
  return (...args) => {
    const work = args.pop() as Work;
    return around(work, (wrapped) => begin(...args, wrapped));
  };
}
