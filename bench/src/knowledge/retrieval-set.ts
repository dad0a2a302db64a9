import { join } from "node:path";
import type { Grades } from "./measures.ts";

/** A set of passages and queries in the files of BEIR. */
export interface RetrievalSet {
  passages: { id: string; title: string; text: string }[];
  queries: { text: string; grades: Grades }[];
  /** Queries that no passage answers. */
  unanswered: string[];
}

interface Item {
  _id: string;
  title?: string;
  text: string;
}

/**
 * Reads `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv` of a folder, and `unanswered.jsonl` if it is there.
 * @throws when a file is missing
 */
export async function readRetrievalSet(folder: string): Promise<RetrievalSet> {
  const grades = new Map<string, Map<string, number>>();
  const [, ...lines] = (await Bun.file(join(folder, "qrels/test.tsv")).text()).trim().split("\n");
  for (const line of lines) {
    const [query = "", passage = "", grade] = line.trim().split("\t");
    const known = grades.get(query) ?? new Map();
    grades.set(query, known.set(passage, Number(grade)));
  }
  const queries = await readItems(join(folder, "queries.jsonl"));
  const passages = await readItems(join(folder, "corpus.jsonl"));
  const unanswered = join(folder, "unanswered.jsonl");
  return {
    passages: passages.map(({ _id, title = "", text }) => ({ id: _id, title, text })),
    queries: queries.flatMap(({ _id, text }) => {
      const known = grades.get(_id);
      return known ? [{ text, grades: known }] : [];
    }),
    unanswered: (await Bun.file(unanswered).exists()) ? (await readItems(unanswered)).map(({ text }) => text) : [],
  };
}

async function readItems(file: string): Promise<Item[]> {
  const lines = (await Bun.file(file).text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}
