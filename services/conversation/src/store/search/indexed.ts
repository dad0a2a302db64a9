import type { Fragment, Sql } from "@parley/shared/db/database";
import type { ConversationFilter } from "../lists/conversation-filter.ts";
import { factsWanted, statusFact } from "./facts.ts";
import type { Part } from "./newest.ts";
import {
  add,
  addEncoded,
  countOfPart,
  emptySet,
  intersect,
  type NumberSet,
  numbersOfPart,
  PART,
  remove,
  removePart,
} from "./number-set.ts";
import { planSearch, type SearchPlan } from "./plan.ts";
import { timeWindow } from "./time-window.ts";

/** Conversations whose texts are read in one statement. */
const PARTS_AT_ONCE = 8;

export interface Indexed {
  parts: Part[];
  numbers: NumberSet;
}

/** Returns the numbers below `indexed` of the conversations that match the filter and contain a text in lower case. */
export async function findIndexed(
  tx: Sql,
  filter: ConversationFilter,
  text: string,
  indexed: number,
): Promise<Indexed> {
  const numbers = emptySet(indexed / PART);
  if (indexed === 0) return { parts: [], numbers };
  const plan = planSearch(text);
  const size = indexed / PART;
  const [parts, gone, [first, ...others]] = await Promise.all([
    tx<Part[]>`select part, first_began, last_began from search_parts where owner_id = ${filter.ownerId}`,
    tx<{ number: number }[]>`select number from search_gone where owner_id = ${filter.ownerId} and number < ${indexed}`,
    Promise.all([...findTerms(tx, filter, plan, size), ...findFacts(tx, filter, size)]),
  ]);
  if (first) numbers.set(first);
  for (const having of others) intersect(numbers, having);
  for (const { number } of gone) remove(numbers, number);
  await keepInTime(tx, filter, parts, numbers);
  if (!plan.isExact) await keepContaining(tx, filter.ownerId, text, parts, numbers);
  return { parts, numbers };
}

/** When the conversations of some parts began, by part and place, in microseconds since 1970. */
export async function loadBegan(tx: Sql, ownerId: string, parts: readonly Part[]): Promise<Map<number, Float64Array>> {
  if (parts.length === 0) return new Map();
  const rows = await tx<{ part: number; began: Buffer }[]>`
    select part, began from search_parts
    where owner_id = ${ownerId} and part = any(${parts.map(({ part }) => part)}::integer[])`;
  // Copied, because a buffer can begin at any address and floats cannot.
  return new Map(rows.map(({ part, began }) => [part, new Float64Array(Uint8Array.from(began).buffer)]));
}

/** For each term of the text, the set of conversations that have it. */
function findTerms(tx: Sql, filter: ConversationFilter, { grams, words, seams }: SearchPlan, size: number) {
  return [
    ...grams.map((gram) => findNumbers(tx, filter, tx`kind = 'gram' and term = ${gram}`, size)),
    ...words.map((pattern) => findNumbers(tx, filter, tx`kind = 'word' and term like ${pattern}`, size)),
    ...seams.map((seam) => findNumbers(tx, filter, tx`kind = 'seam' and term = ${seam}`, size)),
  ];
}

/** The same for each fact that the filter asks for. */
function findFacts(tx: Sql, filter: ConversationFilter, size: number): Promise<NumberSet>[] {
  return factsWanted(filter).map(async (fact) => {
    const numbers = await findNumbers(tx, filter, tx`kind = 'fact' and term = ${fact}`, size);
    if (filter.status === null || fact !== statusFact(filter.status)) return numbers;
    const [open] = await tx<{ numbers: Buffer | null }[]>`
      select string_agg(int4send(number), ''::bytea) as numbers from search_open
      where owner_id = ${filter.ownerId} and status = ${filter.status}`;
    for (const number of decodeNumbers(open?.numbers)) add(numbers, number);
    return numbers;
  });
}

/** @param size of the set, in parts */
async function findNumbers(
  tx: Sql,
  { ownerId }: ConversationFilter,
  condition: Fragment,
  size: number,
): Promise<NumberSet> {
  const [term] = await tx<{ numbers: Buffer | null }[]>`
    select string_agg(numbers, ''::bytea) as numbers from search_terms
    where owner_id = ${ownerId} and ${condition}`;
  const numbers = emptySet(size);
  if (term?.numbers) addEncoded(numbers, term.numbers);
  return numbers;
}

/** Reads numbers that come as one binary value: as rows, many would take longer than finding them. */
function* decodeNumbers(encoded: Buffer | null = null): Generator<number> {
  for (let at = 0; at < (encoded?.length ?? 0); at += 4) yield encoded?.readInt32BE(at) ?? 0;
}

async function keepInTime(tx: Sql, filter: ConversationFilter, parts: readonly Part[], numbers: NumberSet) {
  const window = timeWindow(filter.from, filter.to, filter.timeOfDay);
  const unsure: Part[] = [];
  for (const part of parts) {
    const coverage = window.coverage(part.firstBegan, part.lastBegan);
    if (coverage === "none") removePart(numbers, part.part);
    else if (coverage === "some" && countOfPart(numbers, part.part) > 0) unsure.push(part);
  }
  const began = await loadBegan(tx, filter.ownerId, unsure);
  for (const [part, moments] of began) {
    for (const number of numbersOfPart(numbers, part)) {
      if (!window.holds(moments[number - part * PART] ?? Number.NaN)) remove(numbers, number);
    }
  }
}

/** Keeps the conversations whose text contains another text. */
async function keepContaining(tx: Sql, ownerId: string, text: string, parts: readonly Part[], numbers: NumberSet) {
  const held = parts.filter(({ part }) => countOfPart(numbers, part) > 0);
  for (let from = 0; from < held.length; from += PARTS_AT_ONCE) {
    const candidates = held.slice(from, from + PARTS_AT_ONCE).flatMap(({ part }) => [...numbersOfPart(numbers, part)]);
    const [others] = await tx<{ numbers: Buffer | null }[]>`
      select string_agg(int4send(number), ''::bytea) as numbers from search_documents
      where owner_id = ${ownerId} and number = any(${candidates}::integer[]) and strpos(text, ${text}) = 0`;
    for (const number of decodeNumbers(others?.numbers)) remove(numbers, number);
  }
}
