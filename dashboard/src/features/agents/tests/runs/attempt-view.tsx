import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { Notice } from "../../../../ui/states.tsx";
import type { Attempt } from "../queries.ts";
import { AssertionList } from "./assertion-list.tsx";
import { RunStatusBadge } from "./status.tsx";
import { TestTranscript } from "./test-transcript.tsx";

/** A conversation of a test: what was said, and beside each turn what was expected of it. */
export function AttemptView({ attempt, isOnly }: { attempt: Attempt; isOnly: boolean }) {
  const { attempt: number, status, transcript, assertions, error, conversation_id } = attempt;
  const ofWhole = assertions.filter(({ turn }) => turn === undefined);
  return (
    <div className="flex flex-col gap-4">
      {!isOnly && (
        <h3 className="flex items-center gap-2.5 font-medium">
          Attempt {number} <RunStatusBadge status={status} />
        </h3>
      )}
      {error !== null && <Notice tone="danger">{error}</Notice>}
      {ofWhole.length > 0 && <AssertionList label="Expected of the conversation" results={ofWhole} />}
      {transcript ? (
        <TestTranscript transcript={transcript} assertions={assertions} />
      ) : (
        error === null && <p className="text-muted">{WITHOUT[status] ?? "Nothing is stored of this conversation."}</p>
      )}
      {conversation_id !== null && (
        <Link
          to="/conversations/$conversationId"
          params={{ conversationId: conversation_id }}
          search={{}}
          className="inline-flex items-center gap-1 self-start text-accent-ink hover:underline"
        >
          View the stored conversation <ExternalLink className="size-3.5" aria-hidden />
        </Link>
      )}
    </div>
  );
}

const WITHOUT: Partial<Record<Attempt["status"], string>> = {
  QUEUED: "Not begun yet.",
  RUNNING: "The conversation is being held.",
  CANCELLED: "Cancelled.",
};
