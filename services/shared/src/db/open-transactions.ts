import { AsyncLocalStorage } from "node:async_hooks";
import type postgres from "postgres";
import { type Begin, beginWith } from "./begin-with.ts";

/**
 * Code must not call another service while a transaction is open: a service that hangs would hold the transaction's
 * connection and locks, and ten such requests would hold the whole pool. Tests check this at every call; in production
 * the check costs too much.
 */
const CHECKS = process.env.NODE_ENV === "test";

interface Transaction {
  isOpen: boolean;
}

const transactions = new AsyncLocalStorage<Transaction>();

/** Makes the pool's transactions known to `refuseInTransaction`. */
export function withKnownTransactions(sql: postgres.Sql): postgres.Sql {
  if (!CHECKS) return sql;
  const begin = beginWith(sql.begin.bind(sql) as Begin, (work, run) => {
    const transaction: Transaction = { isOpen: true };
    // Unawaited work may outlive the transaction.
    const end = () => {
      transaction.isOpen = false;
    };
    return run((tx) => transactions.run(transaction, () => work(tx))).finally(end);
  });
  return Object.assign(sql, { begin });
}

/** @throws in tests, when called within an open transaction */
export function refuseInTransaction(what: string): void {
  if (CHECKS && transactions.getStore()?.isOpen) {
    throw new Error(`${what} is called while a database transaction is open: call it before or after the transaction`);
  }
}
