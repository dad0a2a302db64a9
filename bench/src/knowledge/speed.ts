import { createSearch } from "@parley/knowledge/search";
import { systemClock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import { count, table } from "../figures.ts";
import { fillBase } from "./base.ts";
import { percentile } from "./measures.ts";

const VOCABULARY = 60_000;
const CHUNK_WORDS = 170;
const QUERIES = 300;
const WARM_UP = 30;
const NO_EMBEDDER = { PARLEY_EMBEDDINGS_URL: "", PARLEY_EMBEDDINGS_MODEL: "", PARLEY_EMBEDDINGS_API_KEY: "" };

/** Kinds of words, by their places in the vocabulary, the most frequent first. Others are drawn as in texts. */
const KINDS: Readonly<Record<string, (random: () => number) => string>> = {
  "8 words as in texts": (random) => words(8, () => drawn(random)),
  "4 common words": (random) => words(4, () => Math.floor(40 * random())),
  "1 common word": (random) => words(1, () => Math.floor(10 * random())),
  "4 rare words": (random) => words(4, () => 5_000 + Math.floor(50_000 * random())),
  "32 words": (random) => words(32, () => drawn(random)),
};

/** Measures searches by words in a base with so many chunks, whose words are as frequent as those of texts (Zipf's law). */
export async function measureSpeed(db: Database, chunks: number): Promise<void> {
  const base = { ownerId: "own_speed", baseId: "kb_speed" };
  const random = seeded(1);
  const texts = Array.from({ length: chunks }, () => ({ heading: "", text: words(CHUNK_WORDS, () => drawn(random)) }));
  await fillBase(db, base, "en", texts);
  const search = createSearch({ db, clock: systemClock, log: silentLogger, embeddings: NO_EMBEDDER });
  const signal = new AbortController().signal;
  const rows = [["", "p50", "p99", "longest"]];
  for (const [name, query] of Object.entries(KINDS)) {
    const ms: number[] = [];
    for (let time = -WARM_UP; time < QUERIES; time++) {
      const asked = query(random);
      const startedAt = performance.now();
      await search.search({ ...base, baseIds: [base.baseId], query: asked, maxChunks: 6, withinMs: 10_000, signal });
      if (time >= 0) ms.push(performance.now() - startedAt);
    }
    rows.push([name, ...[0.5, 0.99, 1].map((part) => `${percentile(ms, part).toFixed(1)} ms`)]);
  }
  console.log(`\nA search by words among ${count(chunks)} chunks of one base\n${table(rows)}`);
}

function words(length: number, place: () => number): string {
  return Array.from({ length }, () => wordAt(place())).join(" ");
}

/** A place in the vocabulary with the frequency of natural texts. */
function drawn(random: () => number): number {
  return Math.floor(VOCABULARY ** random()) - 1;
}

/** A word of consonants and vowels that no stemmer changes. */
function wordAt(place: number): string {
  let word = "";
  for (let left = place + 20; left > 0; left = Math.floor(left / 20)) word += SYLLABLES[left % 20];
  return `${word}x`;
}

const SYLLABLES = [
  "ba",
  "ko",
  "du",
  "fa",
  "go",
  "hu",
  "ja",
  "ku",
  "lo",
  "ma",
  "nu",
  "po",
  "qua",
  "ro",
  "ta",
  "vu",
  "wo",
  "za",
  "zo",
  "cu",
];

/** The same numbers in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
