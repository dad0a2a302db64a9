import { SpanKind } from "@opentelemetry/api";
import type postgres from "postgres";
import { type Begin, beginWith } from "../db/begin-with.ts";
import { durations, meter, secondsSince } from "./instruments.ts";
import { endFailed, isRecordingTraces, startSpan } from "./spans.ts";

const took = durations("db.client.operation.duration", "Duration of statements, including the wait for a connection");

/** Statements waiting for an answer or a connection: at or above the pool's size, the pool is the bottleneck. */
let underWay = 0;

type AnySql = postgres.Sql | postgres.TransactionSql;

/** Wraps a pool: times and traces every statement. A statement's name has its verb and table, never its values. */
export function observed(sql: postgres.Sql): postgres.Sql {
  meter()
    .createObservableUpDownCounter("db.client.statements.under_way", {
      description: "Statements waiting for an answer or a connection",
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
      return typeof value === "function" && TRANSACTIONS.has(name) ? inTransaction(value.bind(target) as Begin) : value;
    },
  });
}

const TRANSACTIONS: ReadonlySet<string | symbol> = new Set(["begin", "savepoint"]);

function inTransaction(begin: Begin): Begin {
  return beginWith(begin, (work, run) => run((tx) => work(wrap(tx))));
}

/** A query starts when its result is first awaited; a fragment inside another never does. */
function observeQuery(query: postgres.PendingQuery<postgres.Row[]>, template: TemplateStringsArray) {
  let begun = false;
  const then = query.then;
  // biome-ignore lint/suspicious/noThenProperty: a query is a promise already, and begins when this is called
  query.then = function begin(...handlers: Parameters<typeof then>) {
    if (!begun) {
      begun = true;
      const end = beginStatement(template);
      // A separate subscription, so that the caller's handling of failures does not change.
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
/** Matches the names of tables. */
const TABLE = /\b(?:insert\s+into|update(?!\s+skip)|from|join)\s+(?:only\s+)?([a-z_]+)/gi;
/** Matches common table expressions, which look like tables. */
const COMMON = /\b([a-z_]+)\s+as\s+(?:materialized\s+)?\(/gi;
/** Matches a subquery's writes, as verb and table. */
const WRITE = /\b(insert|(?<!\b(?:for|do)\s+)update|delete)\s+(?:(?:into|from)\s+)?(?:only\s+)?([a-z_]+)/gi;

/**
 * For example `insert messages`: the statement's verb and table, whatever its subqueries read. A statement that only
 * returns what its subqueries wrote is called what the last of them does.
 */
export function summaryOf(template: TemplateStringsArray): string {
  let summary = summaries.get(template);
  if (summary === undefined) {
    summary = summarize(template.join(" ")).toLowerCase();
    summaries.set(template, summary);
  }
  return summary;
}

function summarize(text: string): string {
  const notTables = ["unnest", ...Array.from(text.matchAll(COMMON), ([, name]) => name)];
  const outer = outermost(text);
  const [table] = Array.from(outer.matchAll(TABLE), ([, name]) => name).filter((name) => !notTables.includes(name));
  const verb = firstWord(OPERATION.exec(outer)?.[0] ?? outer);
  if (table) return `${verb} ${table}`;
  const [, write = verb, written] = Array.from(text.matchAll(WRITE)).at(-1) ?? [];
  return written ? `${write} ${written}` : verb;
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
