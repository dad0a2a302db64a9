import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Card } from "../../../ui/card.tsx";
import { numberOf } from "../../../ui/numbers.ts";
import { ErrorState, Skeleton } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { type DocumentKey, REPLIES_SHOWN, repliesQuery } from "./documents.ts";

/** The newest replies whose model was given parts of a document. */
export function DocumentReplies({ document }: { document: DocumentKey }) {
  const used = useQuery(repliesQuery(document));
  return (
    <Card title={used.data ? `Replies that used it: ${numberOf(used.data.total)}` : "Replies that used it"}>
      {used.isPending ? (
        <Skeleton className="h-16" />
      ) : used.isLoadingError ? (
        <ErrorState error={used.error} onRetry={used.refetch} />
      ) : used.data.total === 0 ? (
        <p className="text-muted">No reply has used this document.</p>
      ) : (
        <>
          <ul aria-label="Replies" className="flex flex-col gap-3">
            {used.data.replies.map(({ conversation_id, seq, beginning, created_at }) => (
              <li key={`${conversation_id} ${seq}`}>
                <Link
                  to="/conversations/$conversationId"
                  params={{ conversationId: conversation_id }}
                  search={{}}
                  dir="auto"
                  className="line-clamp-2 text-accent-ink hover:underline"
                >
                  {beginning}
                </Link>
                <Time at={created_at} />
              </li>
            ))}
          </ul>
          {used.data.total > REPLIES_SHOWN && (
            <p className="mt-3 text-muted">The newest {REPLIES_SHOWN} are shown. The API lists them all.</p>
          )}
        </>
      )}
    </Card>
  );
}
