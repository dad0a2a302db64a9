import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Search, SearchX } from "lucide-react";
import { type FormEvent, useMemo, useState } from "react";
import { api, patiently, type Schema } from "../../../api/client.ts";
import { fieldsOf } from "../../../api/problem.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { Input } from "../../../ui/form/input.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../../ui/states.tsx";
import { KNOWLEDGE } from "../knowledge.ts";
import { markedIn, wordsOf } from "./marked.ts";

type Found = Schema["FoundChunks"]["chunks"][number];

const CHUNKS = 10;

/** Asks what a turn would get for a question, with the scores that say why. */
export function SearchTab({ baseId }: { baseId: string }) {
  const { query = "" } = useSearch({ from: "/signed-in/knowledge/$baseId" });
  const navigate = useNavigate({ from: "/knowledge/$baseId" });
  const [text, setText] = useState(query);
  const found = useQuery({
    queryKey: [...KNOWLEDGE, "search", baseId, query],
    queryFn: ({ signal }) =>
      api.POST("/v1/public/knowledge-bases/{knowledge_base_id}/search", {
        params: { path: { knowledge_base_id: baseId } },
        body: { query, max_chunks: CHUNKS },
        signal,
        fetch: patiently,
      }),
    enabled: query !== "",
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const next = text.trim();
    if (next === query && next !== "") void found.refetch();
    else void navigate({ search: { tab: "search", ...(next !== "" && { query: next }) } });
  };
  return (
    <div className="flex flex-col gap-5">
      <form onSubmit={submit} className="max-w-3xl">
        <Field
          label="Question"
          hint={`What a user might ask. You see the ${CHUNKS} best chunks, in the order in which an agent gets them.`}
          error={fieldsOf(found.error).get("query")}
        >
          {(control) => (
            <span className="flex gap-2">
              <Input
                {...control}
                type="search"
                maxLength={4_000}
                placeholder="What does a small repair cost?"
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
              <Button type="submit" variant="primary" busy={found.isFetching} disabled={text.trim() === ""}>
                {!found.isFetching && <Search aria-hidden />} Search
              </Button>
            </span>
          )}
        </Field>
      </form>
      {query !== "" &&
        (found.data ? (
          <Chunks baseId={baseId} query={query} chunks={found.data.chunks} />
        ) : found.error ? (
          <ErrorState error={found.error} onRetry={found.refetch} />
        ) : (
          <LoadingRows rows={3} />
        ))}
    </div>
  );
}

function Chunks({ baseId, query, chunks }: { baseId: string; query: string; chunks: readonly Found[] }) {
  if (chunks.length === 0)
    return (
      <EmptyState icon={SearchX} title="Nothing found">
        No document has a word of the question. Documents that are still being read are not found yet.
      </EmptyState>
    );
  return (
    <>
      <ol aria-label="Chunks found" className="flex max-w-3xl flex-col gap-3">
        {chunks.map((chunk) => (
          <Chunk key={chunk.chunk_id} baseId={baseId} query={query} chunk={chunk} />
        ))}
      </ol>
      <p className="max-w-3xl text-[0.8125rem] text-muted">
        Scores go from 0 to 1 and are comparable between questions. An agent leaves out chunks below its lowest score.
        The order follows the words and the meaning together, so that it need not be that of the scores.
      </p>
    </>
  );
}

function Chunk({ baseId, query, chunk }: { baseId: string; query: string; chunk: Found }) {
  const { chunk_id, document_id, name, heading, text, score, lexical_score, semantic_score } = chunk;
  return (
    <li className="flex flex-col gap-2 rounded-xl border border-line bg-raised p-4">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <Link
          to="/knowledge/$baseId/documents/$documentId"
          params={{ baseId, documentId: document_id }}
          search={{ chunk: chunk_id }}
          dir="auto"
          className="min-w-0 truncate font-medium text-accent-ink hover:underline"
        >
          {name}
        </Link>
        {heading && (
          <span dir="auto" className="min-w-0 truncate text-muted">
            {heading}
          </span>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-1.5 tabular-nums">
          <Badge tone="accent">Score {scoreOf(score)}</Badge>
          <Badge>Words {scoreOf(lexical_score)}</Badge>
          <Badge>{semantic_score === null ? "Meaning not compared" : `Meaning ${scoreOf(semantic_score)}`}</Badge>
        </span>
      </div>
      <p dir="auto" className="break-words whitespace-pre-wrap">
        <Marked text={text} query={query} />
      </p>
    </li>
  );
}

function Marked({ text, query }: { text: string; query: string }) {
  const pieces = useMemo(() => markedIn(text, wordsOf(query)), [text, query]);
  return pieces.map(({ text: piece, isMarked }, at) =>
    isMarked ? (
      <mark key={at} className="rounded-sm bg-warning-soft text-warning-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  );
}

function scoreOf(score: number): string {
  return score.toFixed(2);
}
