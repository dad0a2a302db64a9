import { basename } from "node:path";
import { createSearch, type Search } from "@parley/knowledge/search";
import { systemClock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { startWorker } from "@parley/shared/jobs/worker";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { table } from "../figures.ts";
import { type Base, fillBase } from "./base.ts";
import { mean, ndcg, percentile, recall } from "./measures.ts";
import { type RetrievalSet, readRetrievalSet } from "./retrieval-set.ts";

const DEPTH = 50;
const EMBEDDED_WITHIN_MS = 3_600_000;
const MIN_SCORE = 0.2;

/** The passages that a ranking finds for a query, the best first, and the score of the best. */
interface Found {
  ids: string[];
  scores: number[];
}

/** Compares rankings of the passages of a set, each of which is one chunk, as in published figures. */
export async function measureQuality(db: Database, folder: string, language: string): Promise<void> {
  const set = await readRetrievalSet(folder);
  const base = { ownerId: `own_${folder}`, baseId: `kb_${folder}` };
  await fillBase(
    db,
    base,
    language,
    set.passages.map(({ title, text }) => ({ heading: title, text })),
  );
  await indexPlainly(db, base);
  const search = await openSearch(db, base);
  const passageOf = await passagesById(db, base, set);
  const ask = (query: string) =>
    search.search({
      ...base,
      baseIds: [base.baseId],
      query,
      maxChunks: 2 * DEPTH,
      withinMs: 60_000,
      signal: new AbortController().signal,
    });

  const rankings: Record<string, Found[]> = { "words, BM25": [], ts_rank: [] };
  if (isSemantic()) Object.assign(rankings, { meaning: [], "words and meaning": [] });
  for (const { text } of set.queries) {
    const { chunks } = await ask(text);
    const by = (score: (chunk: (typeof chunks)[number]) => number): Found => {
      const ranked = chunks.filter((chunk) => score(chunk) > 0).toSorted((one, other) => score(other) - score(one));
      return { ids: ranked.map(({ chunkId }) => passageOf.get(chunkId) ?? ""), scores: ranked.map(score) };
    };
    rankings["words, BM25"]?.push(by(({ lexicalScore }) => lexicalScore));
    rankings.ts_rank?.push(await rankPlainly(db, base, text, passageOf));
    rankings.meaning?.push(by(({ semanticScore }) => semanticScore ?? 0));
    const order = new Map(chunks.map(({ chunkId }, at) => [chunkId, at]));
    rankings["words and meaning"]?.push(by(({ chunkId }) => 1 / (1 + (order.get(chunkId) ?? DEPTH))));
  }
  const rows = Object.entries(rankings).map(([name, found]) => [
    name,
    mean(found.map(({ ids }, at) => ndcg(ids, set.queries[at]?.grades ?? new Map(), 10))).toFixed(3),
    mean(found.map(({ ids }, at) => recall(ids, set.queries[at]?.grades ?? new Map(), 6))).toFixed(3),
  ]);
  const title = `${basename(folder)}: ${set.queries.length} queries, ${set.passages.length} passages`;
  console.log(`\n${title}\n${table([["", "nDCG@10", "recall@6"], ...rows])}`);
  if (set.unanswered.length > 0) await tellUnanswered(set, ask);
}

/** How many chunks score at least MIN_SCORE where nothing answers, beside those where something does. */
async function tellUnanswered(set: RetrievalSet, ask: (query: string) => ReturnType<Search["search"]>): Promise<void> {
  const rows = [["", `chunks of 6 from ${MIN_SCORE}`, "best score p50", "p95"]];
  const kinds: [string, string[]][] = [
    ["with an answer", set.queries.map(({ text }) => text)],
    ["without an answer", set.unanswered],
  ];
  for (const [name, queries] of kinds) {
    const scores: number[][] = [];
    for (const query of queries) scores.push((await ask(query)).chunks.slice(0, 6).map(({ score }) => score));
    const best = scores.map((each) => Math.max(0, ...each));
    const above = mean(scores.map((each) => each.filter((score) => score >= MIN_SCORE).length));
    rows.push([name, above.toFixed(2), percentile(best, 0.5).toFixed(2), percentile(best, 0.95).toFixed(2)]);
  }
  console.log(`\n${table(rows)}`);
}

function isSemantic(): boolean {
  return Boolean(process.env.PARLEY_EMBEDDINGS_URL);
}

/** With the embedder of the environment, once every chunk has its vector. */
async function openSearch(db: Database, { ownerId, baseId }: Base): Promise<Search> {
  const { PARLEY_EMBEDDINGS_URL = "", PARLEY_EMBEDDINGS_MODEL = "", PARLEY_EMBEDDINGS_API_KEY = "" } = process.env;
  const embeddings = { PARLEY_EMBEDDINGS_URL, PARLEY_EMBEDDINGS_MODEL, PARLEY_EMBEDDINGS_API_KEY };
  const search = createSearch({ db, clock: systemClock, log: silentLogger, embeddings });
  if (!isSemantic()) return search;
  const worker = startWorker(db, search.queues, silentLogger, { clock: systemClock });
  await search.changed(ownerId, baseId);
  await eventually(async () => {
    const [waiting] = await db`select from jobs where owner_id = ${ownerId}`;
    if (waiting) throw new Error("not every chunk has its vector");
  }, EMBEDDED_WITHIN_MS);
  await worker.stop();
  return search;
}

async function passagesById(db: Database, { ownerId }: Base, { passages }: RetrievalSet): Promise<Map<string, string>> {
  const rows = await db<{ chunkId: string; documentId: string; position: number }[]>`
    select chunk_id, document_id, position from chunks where owner_id = ${ownerId}`;
  return new Map(
    rows.map(({ chunkId, documentId, position }) => {
      const first = Number(documentId.split("_").at(-1));
      return [chunkId, passages[first + position]?.id ?? ""];
    }),
  );
}

/** Prepares `rankPlainly`. */
async function indexPlainly(db: Database, { ownerId }: Base): Promise<void> {
  await db`create table if not exists plain_words (owner_id text, chunk_id text, words tsvector)`;
  await db`
    insert into plain_words select owner_id, chunk_id, to_tsvector('english', heading || ' ' || text)
    from chunks where owner_id = ${ownerId}`;
}

/** What Postgres ranks by itself: chunks with any of the query's words, by ts_rank. */
async function rankPlainly(
  db: Database,
  { ownerId }: Base,
  query: string,
  passageOf: ReadonlyMap<string, string>,
): Promise<Found> {
  const rows = await db<{ chunkId: string; score: number }[]>`
    select chunk_id, ts_rank(words, asked) as score
    from plain_words, to_tsquery('simple', replace(plainto_tsquery('english', ${query})::text, '&', '|')) as asked
    where owner_id = ${ownerId} and words @@ asked order by score desc limit ${DEPTH}`;
  return { ids: rows.map(({ chunkId }) => passageOf.get(chunkId) ?? ""), scores: rows.map(({ score }) => score) };
}
