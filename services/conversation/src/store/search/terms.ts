import { setImmediate } from "node:timers/promises";
import type { Sql } from "@parley/shared/db/database";
import { TRANSCRIPT_BYTES_MAX } from "../messages.ts";
import { type Facts, factsOf } from "./facts.ts";
import { BLOCK_PARTS, encodePlaces, PART } from "./number-set.ts";
import { eachTerm } from "./text-terms.ts";

/** Texts read at a time, and their bytes unless a single text is longer. */
const SLICE = { texts: 32, bytes: 2 * 1024 * 1024 };
/** Terms written at a time. */
const BATCH = 4_000;
/**
 * Places collected before they are written, about ten million bytes: a part with long texts may have a hundred million
 * different words.
 */
const NOTED_MAX = { terms: 100_000, places: 2_000_000 };

/** Ascending places in a part, by term. */
type Places = Map<string, number[]>;

/** Stores the terms and start times of a part's conversations that still exist. */
export async function insertPart(tx: Sql, ownerId: string, part: number, notedMax = NOTED_MAX): Promise<void> {
  const first = part * PART;
  const began = new Float64Array(PART).fill(Number.NaN);
  const notes = createNotes(notedMax, (kind, terms) => insertTerms(tx, ownerId, part, kind, terms));
  for (const numbers of await listSlices(tx, ownerId, first)) {
    for (const row of await readTexts(tx, ownerId, numbers)) {
      const place = row.number - first;
      began[place] = row.began;
      const terms = eachTerm(row.text, {
        gram: (gram) => notes.note("gram", gram, place),
        word: (word) => notes.note("word", word, place),
        seam: (seam) => notes.note("seam", seam, place),
      });
      for (const _ of terms) {
        if (notes.isFull()) await notes.write();
        // Lets chats continue in the meantime.
        await setImmediate();
      }
      for (const fact of factsOf(row)) notes.note("fact", fact, place);
      if (notes.isFull()) await notes.write();
    }
  }
  const known = began.filter((moment) => !Number.isNaN(moment));
  if (known.length === 0) return;
  await tx`
    insert into search_parts (owner_id, part, first_began, last_began, began)
    values (${ownerId}, ${part}, ${Math.min(...known)}, ${Math.max(...known)}, ${Buffer.from(began.buffer)})`;
  await notes.write();
}

/** Splits the numbers of a part's texts into reads. */
async function listSlices(tx: Sql, ownerId: string, first: number): Promise<number[][]> {
  // Postgres reads a length without loading the text, which is stored out of line when it is long.
  const texts = await tx<{ number: number; bytes: number }[]>`
    select number, octet_length(text) as bytes from search_documents
    where owner_id = ${ownerId} and number >= ${first} and number < ${first + PART} order by number`;
  const slices: number[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const slice = slices.at(-1);
    bytes += text.bytes;
    if (slice && slice.length < SLICE.texts && bytes <= SLICE.bytes) slice.push(text.number);
    else {
      slices.push([text.number]);
      bytes = text.bytes;
    }
  }
  return slices;
}

function readTexts(tx: Sql, ownerId: string, numbers: readonly number[]) {
  return tx<(Facts & { number: number; text: string; began: number })[]>`
    select number, left(text, ${TRANSCRIPT_BYTES_MAX}) as text, (extract(epoch from created_at) * 1000000)::float8 as began,
      agent_id, agent_version, type, calling_type, is_test_call, case when is_open then null else status end as status
    from unnest(${numbers as number[]}::integer[]) as wanted (wanted_number) cross join lateral (
      select number, conversation_id, text,
        (select true from search_open where owner_id = ${ownerId} and number = wanted_number) as is_open
      from search_documents where owner_id = ${ownerId} and number >= wanted_number
      -- In order, so that Postgres uses the index of numbers, though it may know of no owner with more than one.
      order by number limit 1
    ) as document cross join lateral (
      select created_at, agent_id, agent_version, type, calling_type, is_test_call, status from conversations
      where owner_id = ${ownerId} and conversation_id = document.conversation_id
      -- Looks up those few: the planner would rather read all that the owner has.
      offset 0
    ) as conversation
    where number = wanted_number order by number`;
}

/** Collects the places of each term. @param write stores some terms of a kind, which may have been stored before */
function createNotes(max: typeof NOTED_MAX, write: (kind: string, terms: [string, number[]][]) => Promise<void>) {
  const kinds: Record<"gram" | "word" | "seam" | "fact", Places> = {
    gram: new Map(),
    word: new Map(),
    seam: new Map(),
    fact: new Map(),
  };
  let terms = 0;
  let places = 0;
  return {
    note(kind: keyof typeof kinds, term: string, place: number): void {
      const noted = kinds[kind].get(term);
      if (noted?.at(-1) === place) return;
      places++;
      if (noted) noted.push(place);
      else {
        terms++;
        kinds[kind].set(term, [place]);
      }
    },
    isFull: () => terms >= max.terms || places >= max.places,
    async write(): Promise<void> {
      for (const [kind, noted] of Object.entries(kinds)) {
        await write(kind, [...noted]);
        noted.clear();
      }
      terms = 0;
      places = 0;
    },
  };
}

/** Stores the ascending places of terms in a part, in addition to those stored before. */
export async function insertTerms(
  tx: Sql,
  ownerId: string,
  part: number,
  kind: string,
  terms: readonly [string, number[]][],
): Promise<void> {
  for (let from = 0; from < terms.length; from += BATCH) {
    const batch = terms.slice(from, from + BATCH);
    const encoded = batch.map(([, places]) => encodePlaces(part, places));
    // One binary value for all: an array costs several times as much to send.
    await tx`
      insert into search_terms (owner_id, kind, term, block, part, numbers)
      select ${ownerId}, ${kind}, term, ${Math.floor(part / BLOCK_PARTS)}, ${part},
        substr(${Buffer.concat(encoded)}::bytea, (sum(bytes) over (order by at) - bytes)::integer + 1, bytes)
      from unnest(${batch.map(([term]) => term)}::text[], ${encoded.map(({ length }) => length)}::integer[])
        with ordinality as sent (term, bytes, at)
      on conflict (owner_id, kind, term, block, part) do update set numbers = search_terms.numbers || excluded.numbers`;
  }
}

/** One row for each term instead of one for each part. */
export async function mergeBlock(tx: Sql, ownerId: string, block: number): Promise<void> {
  await tx`
    with parts as (
      delete from search_terms where owner_id = ${ownerId} and block = ${block}
      returning kind, term, part, numbers
    )
    insert into search_terms (owner_id, kind, term, block, part, numbers)
    select ${ownerId}, kind, term, ${block}, ${MERGED}, string_agg(numbers, ''::bytea order by part) from parts group by kind, term`;
}

/** Takes the place of a part's number. */
const MERGED = -1;
