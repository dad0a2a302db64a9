import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { History, Play, Plus } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { useShownFirst } from "../../../ui/painted.ts";
import { Segments } from "../../../ui/segments.tsx";
import { Notice } from "../../../ui/states.tsx";
import type { AgentDraft } from "../editor/draft.ts";
import { testsQuery } from "./queries.ts";
import { ReplayDialog } from "./replays/replay-dialog.tsx";
import { ReplaysList } from "./replays/replays-list.tsx";
import { RunDialog } from "./runs/run-dialog.tsx";
import { RunsList } from "./runs/runs-list.tsx";
import { TestsList } from "./tests-list.tsx";

const VIEWS = [
  { value: "tests", label: "Tests" },
  { value: "runs", label: "Runs" },
  { value: "replays", label: "Replays" },
] as const;

/** The tests of an agent, their runs, and replays of its conversations. */
export function TestsTab({ draft: { agent, isDirty } }: { draft: Pick<AgentDraft, "agent" | "isDirty"> }) {
  const agentId = agent.id;
  const { view = "tests", run, version, replay = false } = useSearch({ from: "/signed-in/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const tests = useQuery(testsQuery(agentId)).data;
  const [running, setRunning] = useShownFirst(run, (chosen) =>
    navigate({ search: (before) => ({ ...before, run: chosen, version: undefined }) }),
  );
  const [isReplaying, setReplaying] = useShownFirst(replay, (open) =>
    navigate({ search: (before) => ({ ...before, replay: open ? true : undefined }) }),
  );
  const make = (
    <Button asChild>
      <Link to="/agents/$agentId/tests/new" params={{ agentId }}>
        <Plus aria-hidden /> New test
      </Link>
    </Button>
  );
  const hasTests = tests !== undefined && tests.length > 0;
  return (
    <div className="flex flex-col gap-5">
      {isDirty && (
        <Notice tone="warning">Tests talk with saved versions of the agent, without your unsaved changes.</Notice>
      )}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segments
          label="What is listed"
          options={VIEWS}
          value={view}
          onChange={(next) =>
            navigate({ search: (before) => ({ ...before, view: next === "tests" ? undefined : next }), replace: true })
          }
        />
        <div className="flex flex-wrap gap-2">
          {view === "replays" ? (
            <Button variant="primary" onClick={() => setReplaying(true)}>
              <History aria-hidden /> Replay conversations
            </Button>
          ) : (
            hasTests && (
              <>
                {view === "tests" && make}
                <Button variant="primary" onClick={() => setRunning("all")}>
                  <Play aria-hidden /> Run tests
                </Button>
              </>
            )
          )}
        </div>
      </div>
      {view === "tests" && <TestsList agentId={agentId} make={make} />}
      {view === "runs" && <RunsList agentId={agentId} />}
      {view === "replays" && <ReplaysList agentId={agentId} />}
      <RunDialog agentId={agentId} chosen={running} version={version} onClose={() => setRunning(undefined)} />
      <ReplayDialog agentId={agentId} open={isReplaying} onClose={() => setReplaying(false)} />
    </div>
  );
}
