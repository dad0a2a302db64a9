import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { agentNamesQuery, nameOfAgent } from "../../agents.ts";
import type { Replay, Run } from "../queries.ts";
import { RunStatusBadge } from "./status.tsx";

/** The heading of a run's page or a replay's, with the way back to the agent's list of them. */
export function RunHeading({ run, title, view }: { run: Run | Replay; title: string; view: "runs" | "replays" }) {
  const names = useQuery(agentNamesQuery).data;
  return (
    <span className="flex flex-col gap-2">
      <Link
        to="/agents/$agentId"
        params={{ agentId: run.agent_id }}
        search={{ tab: "tests", view }}
        className="inline-flex items-center gap-1.5 text-sm font-normal text-muted hover:text-ink"
      >
        <ArrowLeft className="size-4" aria-hidden /> {nameOfAgent(names, run.agent_id)}
      </Link>
      <span className="flex flex-wrap items-center gap-2.5">
        {title}
        <span role="status">
          <RunStatusBadge status={run.status} isReplay={view === "replays"} />
        </span>
      </span>
    </span>
  );
}
