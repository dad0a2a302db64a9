import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { Agent } from "../agents.ts";
import { trafficQuery } from "./versions.ts";

/** Whether conversations get the newest version, with a link to all versions. */
export function VersionState({ agent, onPublish }: { agent: Agent; onPublish: () => void }) {
  const { id, latest_version: latest, published_version: published } = agent;
  const isPublished = latest === published;
  const split = useQuery({ ...trafficQuery(id), enabled: !isPublished }).data;
  const weight = split?.find(({ agent_version }) => agent_version === latest)?.weight ?? 0;
  const state = isPublished
    ? { words: ", published", isWaiting: false }
    : weight > 0
      ? { words: ` gets ${weight}%`, isWaiting: false }
      : { words: " is not published", isWaiting: true };
  const toVersions = { to: "/agents/$agentId", params: { agentId: id }, search: { tab: "versions" } } as const;
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <Link {...toVersions} className={clsx("hover:underline", state.isWaiting && "font-medium text-warning-ink")}>
        Version {latest}
        {state.words}
      </Link>
      {!isPublished && (
        <button type="button" onClick={onPublish} className="font-medium text-accent-ink hover:underline">
          Publish
        </button>
      )}
    </span>
  );
}
