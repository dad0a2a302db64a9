import type { Sql } from "@parley/shared/db/database";
import { type Facts, factsOf } from "../search/facts.ts";
import { BLOCK_PARTS, encodePlaces, PART } from "../search/number-set.ts";
import { eachTerm } from "../search/terms.ts";

/** Texts read at a time: what this process does between them takes a few milliseconds. */
const SLICE = 32;
/** Terms written at a time. */
const BATCH = 4_000;

/** Ascending places in a part, by term. */
type Places = Map<string, number[]>;

/** Stores the terms and times of a part's conversations that are still there. */
export async function insertPart(tx: Sql, ownerId: string, part: number): Promise<void> {
  const first = part * PART;
  const began = new Float64Array(PART).fill(Number.NaN);
  const kinds = { gram: new Map() as Places, word: new Map() as Places, fact: new Map() as Places };
  const slices = tx<(Facts & { number: number; text: string; began: number })[]>`
    select number, text, (extract(epoch from created_at) * 1000000)::float8 as began, agent_id, type, calling_type, status
    from search_documents join conversations using (owner_id, conversation_id)
    where owner_id = ${ownerId} and number >= ${first} and number < ${first + PART}
    order by number`.cursor(SLICE);
  for await (const slice of slices) {
    for (const row of slice) {
      const place = row.number - first;
      began[place] = row.began;
      eachTerm(row.text, {
        gram: (gram) => note(kinds.gram, gram, place),
        word: (word) => note(kinds.word, word, place),
      });
      for (const fact of factsOf(row)) note(kinds.fact, fact, place);
    }
  }
  const known = began.filter((moment) => !Number.isNaN(moment));
  if (known.length === 0) return;
  await tx`
    insert into search_parts (owner_id, part, first_began, last_began, began)
    values (${ownerId}, ${part}, ${Math.min(...known)}, ${Math.max(...known)}, ${Buffer.from(began.buffer)})`;
  for (const [kind, places] of Object.entries(kinds)) await insertTerms(tx, ownerId, part, kind, [...places]);
}

function note(places: Places, term: string, place: number): void {
  const noted = places.get(term);
  if (!noted) places.set(term, [place]);
  else if (noted.at(-1) !== place) noted.push(place);
}

async function insertTerms(tx: Sql, ownerId: string, part: number, kind: string, terms: [string, number[]][]) {
  for (let from = 0; from < terms.length; from += BATCH) {
    const batch = terms.slice(from, from + BATCH);
    const encoded = batch.map(([, places]) => encodePlaces(part, places));
    // One value of bytes for all: an array of them costs several times as much to send.
    await tx`
      insert into search_terms (owner_id, kind, term, block, part, numbers)
      select ${ownerId}, ${kind}, term, ${Math.floor(part / BLOCK_PARTS)}, ${part},
        substr(${Buffer.concat(encoded)}::bytea, (sum(bytes) over (order by at) - bytes)::integer + 1, bytes)
      from unnest(${batch.map(([term]) => term)}::text[], ${encoded.map(({ length }) => length)}::integer[])
        with ordinality as sent (term, bytes, at)`;
  }
}

/** One row for each term, where there was one for each part. */
export async function mergeBlock(tx: Sql, ownerId: string, block: number): Promise<void> {
  await tx`
    with parts as (
      delete from search_terms where owner_id = ${ownerId} and block = ${block}
      returning kind, term, part, numbers
    )
    insert into search_terms (owner_id, kind, term, block, part, numbers)
    select ${ownerId}, kind, term, ${block}, ${MERGED}, string_agg(numbers, ''::bytea order by part) from parts group by kind, term`;
}

/** Stands where a part's number would. */
const MERGED = -1;
