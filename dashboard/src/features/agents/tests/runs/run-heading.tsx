import { useQuery } from "@tanstack/react-query";
import { BackLink } from "../../../../app/back-link.tsx";
import { agentNamesQuery, nameOfAgent } from "../../agents.ts";
import type { Replay, Run } from "../queries.ts";
import { RunStatusBadge } from "./status.tsx";

/** The heading of a run's page or a replay's, with the way back to the agent's list of them. */
export function RunHeading({ run, title, view }: { run: Run | Replay; title: string; view: "runs" | "replays" }) {
  const names = useQuery(agentNamesQuery).data;
  return (
    <span className="flex flex-col gap-2">
      <BackLink to="/agents/$agentId" params={{ agentId: run.agent_id }} search={{ tab: "tests", view }}>
        {nameOfAgent(names, run.agent_id)}
      </BackLink>
      <span className="flex flex-wrap items-center gap-2.5">
        {title}
        <span role="status">
          <RunStatusBadge status={run.status} isReplay={view === "replays"} />
        </span>
      </span>
    </span>
  );
}
