import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../../../ui/button.tsx";
import { ErrorState, Notice, Skeleton } from "../../../../ui/states.tsx";
import { Time } from "../../../../ui/time.tsx";
import { openingOf } from "../../../conversations/opening.ts";
import { type Replay, replayedTranscriptQuery, storedConversationQuery } from "../queries.ts";
import { RunStatusBadge } from "../runs/status.tsx";
import { TestTranscript } from "../runs/test-transcript.tsx";
import { DifferenceView } from "./difference-view.tsx";
import { useSeen } from "./use-seen.ts";

type Result = Replay["results"][number];

/** A stored conversation and its replay: what differs, with both sides. @param number of the conversation on the page */
export function ReplayedCard({ replay, result, number }: { replay: Replay; result: Result; number: number }) {
  const { conversation_id, replayed_conversation_id, status, differences, documents_changed, error } = result;
  const [isShown, setShown] = useState(false);
  const [card, isSeen] = useSeen<HTMLElement>();
  const stored = useQuery({ ...storedConversationQuery(conversation_id), enabled: isSeen }).data;
  return (
    <section ref={card} className="flex flex-col gap-4 rounded-xl border border-line bg-raised p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 dir="auto" className="basis-full truncate font-semibold">
          {stored ? `${number}. ${openingOf(stored)}` : `Conversation ${number}`}
        </h2>
        <RunStatusBadge status={status} isReplay />
        {stored && (
          <span className="text-muted">
            <Time at={stored.created_at} />
          </span>
        )}
        <Conversation conversationId={conversation_id}>As it is stored</Conversation>
        {replayed_conversation_id !== null && (
          <Conversation conversationId={replayed_conversation_id}>Its replay</Conversation>
        )}
        {replayed_conversation_id !== null && status !== "RUNNING" && (
          <Button size="small" className="ml-auto" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? "Hide transcript" : "Transcript of the replay"}
          </Button>
        )}
      </div>
      {error !== null && <Notice tone="danger">{error}</Notice>}
      {documents_changed && (
        <Notice>Documents have changed since the stored conversation, which may explain what differs.</Notice>
      )}
      {differences.map((difference, at) => (
        <DifferenceView key={at} difference={difference} />
      ))}
      {isShown && <ReplayTranscript replay={replay} result={result} />}
    </section>
  );
}

function Conversation({ conversationId, children }: { conversationId: string; children: string }) {
  return (
    <Link
      to="/conversations/$conversationId"
      params={{ conversationId }}
      search={{}}
      className="font-medium text-accent-ink hover:underline"
    >
      {children}
    </Link>
  );
}

/** The transcript, which is read by itself if the replay has no room for it. */
function ReplayTranscript({ replay: { agent_id, replay_id }, result }: { replay: Replay; result: Result }) {
  const alone = useQuery({
    ...replayedTranscriptQuery(agent_id, replay_id, result.conversation_id),
    enabled: result.transcript === null,
  });
  const transcript = result.transcript ?? alone.data;
  if (transcript) return <TestTranscript transcript={transcript} />;
  if (alone.isLoadingError) return <ErrorState error={alone.error} onRetry={alone.refetch} />;
  if (alone.isPending) return <Skeleton className="h-32" />;
  return <p className="text-muted">Nothing is stored of this conversation.</p>;
}
