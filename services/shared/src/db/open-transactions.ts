import { AsyncLocalStorage } from "node:async_hooks";
import type postgres from "postgres";

/**
 * No call of another service is made while a transaction is open: a service that hangs would hold the transaction's connection and
 * locks, and with ten such requests the whole pool. Tests check that rule at every call; elsewhere the check costs too much.
 */
const CHECKS = process.env.NODE_ENV === "test";

interface Transaction {
  isOpen: boolean;
}

const transactions = new AsyncLocalStorage<Transaction>();

/** The same pool, its transactions known to `refuseInTransaction`. */
export function withKnownTransactions(sql: postgres.Sql): postgres.Sql {
  if (!CHECKS) return sql;
  const begin = sql.begin.bind(sql) as (...args: unknown[]) => Promise<unknown>;
  const knownBegin = (...args: unknown[]) => {
    const work = args.pop() as (tx: postgres.TransactionSql) => unknown;
    const transaction: Transaction = { isOpen: true };
    // What the work starts and does not wait for may outlive the transaction.
    const end = () => {
      transaction.isOpen = false;
    };
    return begin(...args, (tx: postgres.TransactionSql) => transactions.run(transaction, () => work(tx))).finally(end);
  };
  return Object.assign(sql, { begin: knownBegin });
}

/** @throws in tests, when what runs is part of a transaction that is still open */
export function refuseInTransaction(what: string): void {
  if (CHECKS && transactions.getStore()?.isOpen) {
    throw new Error(`${what} is called while a database transaction is open: call it before or after the transaction`);
  }
}
