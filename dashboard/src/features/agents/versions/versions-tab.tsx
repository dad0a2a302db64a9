import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { Section, Sections } from "../../../ui/form/section.tsx";
import { Segments } from "../../../ui/segments.tsx";
import type { AgentDraft } from "../editor/draft.ts";
import { Comparison } from "./comparison.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { PublishLog } from "./publish-log.tsx";
import { PublishingSection } from "./publishing-section.tsx";
import { TrafficSection } from "./traffic-section.tsx";
import { VersionList } from "./version-list.tsx";

const VIEWS = [
  { value: "versions", label: "Versions" },
  { value: "log", label: "Publish log" },
] as const;

/** What an agent was and is, and which of it conversations get. */
export function VersionsTab({ draft }: { draft: AgentDraft }) {
  const { agent } = draft;
  const { version, against, log: isLog = false, page, try: trying } = useSearch({ from: "/signed-in/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const [publishing, setPublishing] = useState<number | null>(null);
  const show = (shown: { version?: number; against?: number; log?: true; page?: number }) =>
    navigate({ search: ({ try: kind, tried }) => ({ tab: "versions", try: kind, tried, ...shown }) });
  const tryVersion = useCallback(
    (tried: number) =>
      navigate({ search: (before) => ({ ...before, try: before.try ?? "chat", tried }), replace: true }),
    [navigate],
  );
  const showPage = (next: number) => show({ ...(isLog && { log: true }), ...(next > 1 && { page: next }) });
  return (
    <>
      {version !== undefined ? (
        <Comparison
          agent={agent}
          version={version}
          against={against}
          onChange={show}
          onClose={() => show({})}
          onTry={tryVersion}
          onPublish={setPublishing}
        />
      ) : (
        <Sections>
          <PublishingSection draft={draft} />
          <TrafficSection agent={agent} />
          <Section
            title="History"
            actions={
              <Segments
                label="History"
                options={VIEWS}
                value={isLog ? "log" : "versions"}
                onChange={(view) => show(view === "log" ? { log: true } : {})}
              />
            }
          >
            {isLog ? (
              <PublishLog agentId={agent.id} page={page} onPage={showPage} />
            ) : (
              <VersionList
                agent={agent}
                page={page}
                onPage={showPage}
                onTry={tryVersion}
                onPublish={setPublishing}
                isNarrow={trying !== undefined}
              />
            )}
          </Section>
        </Sections>
      )}
      <PublishDialog draft={draft} version={publishing} onClose={() => setPublishing(null)} />
    </>
  );
}
