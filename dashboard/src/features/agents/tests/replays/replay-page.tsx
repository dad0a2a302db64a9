import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { isMissing, NotFound, PageFailure, PagePending } from "../../../../app/failures.tsx";
import { Page } from "../../../../ui/page.tsx";
import { isOpen, type Replay, replayQuery } from "../queries.ts";
import { CancelRun } from "../runs/cancel-run.tsx";
import { RunFacts } from "../runs/run-facts.tsx";
import { RunHeading } from "../runs/run-heading.tsx";
import { ReplayedCard } from "./replayed-card.tsx";

/** Stored conversations that are held again with a version, and what differs. */
export function ReplayPage() {
  const { agentId, replayId } = useParams({ from: "/signed-in/agents/$agentId/replays/$replayId" });
  const replay = useQuery(replayQuery(agentId, replayId));
  if (replay.isPending) return <PagePending />;
  if (isMissing(replay.error)) return <NotFound what="replay" of="agent" all="/agents" />;
  if (replay.isLoadingError) return <PageFailure error={replay.error} reset={() => replay.refetch()} />;
  return <Shown key={replayId} replay={replay.data} />;
}

function Shown({ replay }: { replay: Replay }) {
  const title = `Replay with version ${replay.agent_version}`;
  return (
    <Page
      title={title}
      heading={<RunHeading run={replay} title={title} view="replays" />}
      actions={isOpen(replay) && <CancelRun agentId={replay.agent_id} runId={replay.replay_id} what="replay" />}
    >
      <RunFacts run={replay} />
      <ol aria-label="Conversations" className="flex flex-col gap-4">
        {replay.results.map((result, at) => (
          <li key={result.conversation_id}>
            <ReplayedCard replay={replay} result={result} number={at + 1} />
          </li>
        ))}
      </ol>
    </Page>
  );
}
