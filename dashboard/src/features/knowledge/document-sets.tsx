import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client.ts";
import { isMissing } from "../../app/failures.tsx";
import { baseQuery } from "./knowledge.ts";

type DocumentSet = NonNullable<Schema["Conversation"]["document_sets"]>[number];

/** The knowledge bases that a conversation was answered from, and whether their documents are still the same. */
export function DocumentSets({ sets }: { sets: readonly DocumentSet[] }) {
  return (
    <ul className="flex flex-col gap-1">
      {sets.map((set) => (
        <li key={set.knowledge_base_id}>
          <Compared set={set} />
        </li>
      ))}
    </ul>
  );
}

function Compared({ set: { knowledge_base_id: baseId, documents_hash: hash } }: { set: DocumentSet }) {
  const base = useQuery(baseQuery(baseId));
  if (isMissing(base.error)) return <span className="text-muted">A knowledge base that was deleted since</span>;
  const hasChanged = base.data && base.data.documents_hash !== hash;
  return (
    <>
      <Link
        to="/knowledge/$baseId"
        params={{ baseId }}
        search={{}}
        dir="auto"
        className="text-accent-ink hover:underline"
      >
        {base.data?.name ?? baseId}
      </Link>
      {base.data && (
        <span className={`block ${hasChanged ? "text-warning-ink" : "text-muted"}`}>
          {hasChanged ? "Documents have changed since" : "Documents are the same now"}
        </span>
      )}
    </>
  );
}
