import { Link } from "@tanstack/react-router";
import { FileText } from "lucide-react";
import { useState } from "react";
import type { Schema } from "../../api/client.ts";

type Message = Schema["Message"];
export type Grounds = Pick<Message, "sources" | "knowledge">;
type Source = NonNullable<Message["sources"]>[number];

/** So many are shown until more are asked for. */
const SHOWN = 3;

const FAILURES: Readonly<Record<NonNullable<Message["knowledge"]>["status"], string | null>> = {
  ok: null,
  partial: "Not all knowledge answered in time.",
  timed_out: "Knowledge did not answer in time: the reply is without it.",
  unavailable: "Knowledge could not be searched: the reply is without it.",
};

/**
 * What a reply's model was given from documents; a click opens the document at the chunk.
 * @param apart opens it in another tab, where leaving the page would end what is under way
 */
export function Sources({ sources = [], knowledge, apart = false }: Grounds & { apart?: boolean }) {
  const [areAllShown, showAll] = useState(false);
  const shown = areAllShown ? sources : sources.slice(0, SHOWN);
  const notes = knowledge
    ? [FAILURES[knowledge.status], knowledge.truncated ? "Documents were cut: they are too long for the prompt." : null]
    : [];
  const note = notes.filter((each) => each !== null).join(" ");
  return (
    <>
      {shown.length > 0 && (
        <ul aria-label="Sources" className="flex max-w-full flex-wrap gap-1.5 text-xs">
          {shown.map((source) => (
            <li key={`${source.document_id} ${source.chunk_id}`} className="flex max-w-full">
              <SourceLink source={source} apart={apart} />
            </li>
          ))}
          {shown.length < sources.length && (
            <li>
              <button
                type="button"
                className="rounded-full px-2 py-0.5 text-muted hover:bg-hover hover:text-ink"
                onClick={() => showAll(true)}
              >
                {sources.length - shown.length} more
              </button>
            </li>
          )}
        </ul>
      )}
      {note && <span className="text-xs text-warning-ink">{note}</span>}
    </>
  );
}

function SourceLink({ source, apart }: { source: Source; apart: boolean }) {
  const { knowledge_base_id, document_id, name, chunk_id, score } = source;
  return (
    <Link
      to="/knowledge/$baseId/documents/$documentId"
      params={{ baseId: knowledge_base_id, documentId: document_id }}
      search={chunk_id === null ? {} : { chunk: chunk_id }}
      title={name}
      {...(apart && { target: "_blank", rel: "noopener" })}
      className="inline-flex max-w-full min-w-0 items-center gap-1 rounded-full border border-line bg-raised px-2 py-0.5 text-muted hover:bg-hover hover:text-ink"
    >
      <FileText className="size-3 shrink-0" aria-hidden />
      <span dir="auto" className="max-w-56 truncate">
        {name}
      </span>
      {score !== null && (
        <span className="tabular-nums">
          <span className="sr-only">score </span>
          {score.toFixed(2)}
        </span>
      )}
      {apart && <span className="sr-only">(opens in a new tab)</span>}
    </Link>
  );
}
