import { SpanKind } from "@opentelemetry/api";
import type postgres from "postgres";
import { durations, meter, secondsSince } from "./instruments.ts";
import { endFailed, isRecordingTraces, startSpan } from "./spans.ts";

const took = durations("db.client.operation.duration", "How long statements took, waiting for a connection included");

/** How many statements wait for an answer or for a connection: at the pool's size or above it, the pool is the bottleneck. */
let underWay = 0;

type AnySql = postgres.Sql | postgres.TransactionSql;

/**
 * The same pool, every statement of it timed and part of its trace. What a statement is called is what it does to which
 * table; its values are in neither.
 */
export function observed(sql: postgres.Sql): postgres.Sql {
  meter()
    .createObservableUpDownCounter("db.client.statements.under_way", {
      description: "Statements that wait for an answer or for a connection",
    })
    .addCallback((result) => result.observe(underWay));
  return wrap(sql);
}

function wrap<T extends AnySql>(sql: T): T {
  return new Proxy(sql, {
    apply(target, self, args) {
      const made = Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args);
      return isTemplate(args[0]) ? observeQuery(made as postgres.PendingQuery<postgres.Row[]>, args[0]) : made;
    },
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" && TRANSACTIONS.has(name) ? inTransaction(value.bind(target)) : value;
    },
  });
}

const TRANSACTIONS: ReadonlySet<string | symbol> = new Set(["begin", "savepoint"]);

/** `begin` and `savepoint`, which hand what they were given last a connection of its own. */
function inTransaction(begin: (...args: unknown[]) => unknown) {
  return (...args: unknown[]) => {
    const work = args.pop() as (sql: postgres.TransactionSql) => unknown;
    return begin(...args, (sql: postgres.TransactionSql) => work(wrap(sql)));
  };
}

/** A query begins when somebody first wants its result; a fragment inside another never does. */
function observeQuery(query: postgres.PendingQuery<postgres.Row[]>, template: TemplateStringsArray) {
  let begun = false;
  const then = query.then;
  // biome-ignore lint/suspicious/noThenProperty: a query is a promise already, and begins when this is called
  query.then = function begin(...handlers: Parameters<typeof then>) {
    if (!begun) {
      begun = true;
      const end = beginStatement(template);
      // Its own subscription: what the caller does with a failure stays the caller's.
      then.call(query, () => end(null), end);
    }
    return then.apply(query, handlers);
  } as typeof then;
  return query;
}

function beginStatement(template: TemplateStringsArray): (error: unknown) => void {
  const startedAt = performance.now();
  const name = summaryOf(template);
  const span = isRecordingTraces()
    ? startSpan(name, {
        kind: SpanKind.CLIENT,
        attributes: { "db.system.name": "postgresql", "db.query.summary": name },
      })
    : null;
  underWay++;
  return (error) => {
    underWay--;
    took().record(secondsSince(startedAt), { "db.query.summary": name, outcome: error === null ? "ok" : "error" });
    if (!span) return;
    if (error !== null) endFailed(span, error);
    span.end();
  };
}

const summaries = new WeakMap<TemplateStringsArray, string>();
const OPERATION = /\b(?:insert\s+into|update|delete\s+from|select)\b/i;
/** Where a table is named. */
const TABLE = /\b(?:insert\s+into|update(?!\s+skip)|from|join)\s+(?:only\s+)?([a-z_]+)/gi;
/** What is read like a table and is none: a function, a common table expression. */
const COMMON = /\b([a-z_]+)\s+as\s+(?:materialized\s+)?\(/gi;

/** Such as `insert messages`: what the statement does, whatever its subqueries look up for it. */
export function summaryOf(template: TemplateStringsArray): string {
  let summary = summaries.get(template);
  if (summary === undefined) {
    const text = template.join(" ");
    const notTables = ["unnest", ...Array.from(text.matchAll(COMMON), ([, name]) => name)];
    const outer = outermost(text);
    const tables = Array.from(outer.matchAll(TABLE), ([, name]) => name).filter((name) => !notTables.includes(name));
    const verb = firstWord(OPERATION.exec(outer)?.[0] ?? outer);
    summary = [verb, ...tables.slice(0, 1)].join(" ").toLowerCase();
    summaries.set(template, summary);
  }
  return summary;
}

function outermost(text: string): string {
  for (let shorter = text; ; text = shorter) {
    shorter = text.replace(/\([^()]*\)/g, " ");
    if (shorter === text) return text;
  }
}

function firstWord(text: string): string {
  return text.trim().split(/\s+/, 1)[0] ?? "";
}

function isTemplate(value: unknown): value is TemplateStringsArray {
  return Array.isArray(value) && Object.hasOwn(value, "raw");
}
