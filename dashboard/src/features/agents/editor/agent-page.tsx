import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { isMissing, NotFound, PageFailure, PagePending } from "../../../app/failures.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { LeftWork } from "../../../ui/form/left-work.tsx";
import { Refusable, Refusal } from "../../../ui/form/refusal.tsx";
import { useSaveShortcut } from "../../../ui/form/save-shortcut.ts";
import { UnsavedChanges } from "../../../ui/form/unsaved-changes.tsx";
import { followedAfterPaint } from "../../../ui/painted.ts";
import { Tabs } from "../../../ui/tabs.tsx";
import { ToggleButton } from "../../../ui/toggle-button.tsx";
import type { Kind } from "../../try-it/setup.ts";
import { TryIt } from "../../try-it/try-it.tsx";
import { TryItPanel } from "../../try-it/try-it-panel.tsx";
import { type Agent, agentQuery } from "../agents.ts";
import { TestsTab } from "../tests/tests-tab.tsx";
import { PublishDialog } from "../versions/publish-dialog.tsx";
import { TryVersion } from "../versions/try-version.tsx";
import { VersionNote } from "../versions/version-note.tsx";
import { VersionState } from "../versions/version-state.tsx";
import { VersionsTab } from "../versions/versions-tab.tsx";
import { AgentMenu } from "./agent-menu.tsx";
import { AnalysisTab } from "./analysis-tab.tsx";
import { ChannelsTab } from "./channels/channels-tab.tsx";
import { Conflicts } from "./conflicts.tsx";
import { type AgentDraft, useAgentDraft } from "./draft.ts";
import { KnowledgeTab } from "./knowledge/knowledge-tab.tsx";
import { ModelsTab } from "./models/models-tab.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { ToolsTab } from "./tools/tools-tab.tsx";
import { TABS, WayToField } from "./way-to-field.tsx";

/** An agent: its settings in tabs, and beside them a chat or a call that uses the settings as they are on the screen. */
export function AgentPage() {
  const { agentId } = useParams({ from: "/signed-in/agents/$agentId" });
  const agent = useQuery(agentQuery(agentId));
  if (agent.isPending) return <PagePending />;
  if (isMissing(agent.error)) return <NotFound what="agent" all="/agents" />;
  if (agent.isLoadingError) return <PageFailure error={agent.error} reset={() => agent.refetch()} />;
  return <Editor key={agentId} agent={agent.data} />;
}

function Editor({ agent }: { agent: Agent }) {
  const { tab = "prompt", try: trying, tried } = useSearch({ from: "/signed-in/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const draft = useAgentDraft(agent);
  useSaveShortcut(draft.isSavable ? draft.save : null);
  useEffect(() => {
    document.title = `${agent.agent_name} · Parley`;
  }, [agent.agent_name]);
  const setTab = (next: string) => navigate({ search: { tab: next as typeof tab, try: trying, tried }, replace: true });
  const setTrying = (next: Kind | undefined, version?: number) =>
    navigate({ search: (before) => ({ ...before, try: next, tried: version }), replace: true });
  return (
    <div className="flex min-h-full">
      <div className="min-w-0 flex-1">
        <EditorHeader
          draft={draft}
          isTrying={trying !== undefined}
          onTry={(on) => setTrying(on ? "chat" : undefined)}
        />
        <div data-form className="mx-auto max-w-4xl px-4 pt-2 pb-16 sm:px-8">
          <LeftWork at={draft.offeredAt} onDecide={draft.decide} />
          <Conflicts draft={draft} />
          <Refusable>
            <Refusal
              className="pt-3"
              error={draft.conflicts.length > 0 ? null : draft.refusal}
              begins="Could not save: "
              way={(path) => <WayToField path={path} tab={tab} onTab={setTab} />}
            />
            <Tabs
              label="Agent settings"
              value={tab}
              onChange={setTab}
              tabs={TABS.map((each) => {
                const Content = CONTENTS[each.value];
                return { ...each, content: <Content draft={draft} /> };
              })}
            />
          </Refusable>
        </div>
      </div>
      {trying && (
        <TryItPanel onClose={() => setTrying(undefined)}>
          {(close) => {
            const how = { kind: trying, onKind: (kind: Kind) => setTrying(kind, tried), onClose: close };
            if (tried === undefined) return <TryIt tried={draft} {...how} />;
            return <TryVersion key={tried} agentId={agent.id} version={tried} {...how} />;
          }}
        </TryItPanel>
      )}
      <UnsavedChanges
        isDirty={draft.isDirty}
        name={agent.agent_name}
        onSave={draft.isSavable ? draft.save : undefined}
        onDiscard={draft.discard}
      />
    </div>
  );
}

const CONTENTS = {
  prompt: PromptTab,
  models: ModelsTab,
  tools: ToolsTab,
  knowledge: KnowledgeTab,
  analysis: AnalysisTab,
  channels: ChannelsTab,
  versions: VersionsTab,
  tests: TestsTab,
};

function EditorHeader({
  draft,
  isTrying,
  onTry,
}: {
  draft: AgentDraft;
  isTrying: boolean;
  onTry: (on: boolean) => void;
}) {
  const { agent, isDirty, isSaving } = draft;
  const navigate = useNavigate();
  const [publishing, setPublishing] = useState<number | null>(null);
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-canvas/95 backdrop-blur max-lg:top-13">
      <div className="mx-auto flex max-w-4xl flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 sm:px-8">
        <Link
          to="/agents"
          aria-label="All agents"
          onClick={followedAfterPaint(() => navigate({ to: "/agents" }))}
          className="-ml-1 rounded-md p-1 text-muted hover:bg-hover active:opacity-80"
        >
          <ChevronLeft className="size-5" aria-hidden />
        </Link>
        <div className="min-w-0 flex-1 basis-48">
          <h1 dir="auto" className="truncate text-lg leading-6 font-semibold tracking-tight">
            {agent.agent_name}
          </h1>
          <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
            <span className="truncate font-mono select-all">{agent.id}</span>
            <VersionState agent={agent} onPublish={() => setPublishing(agent.latest_version)} />
          </p>
        </div>
        <span role="status" className={clsx(!isDirty && "sr-only")}>
          {isDirty && <Badge tone="warning">Unsaved changes</Badge>}
        </span>
        {isDirty && <VersionNote draft={draft} />}
        <div className="flex items-center gap-2">
          {isDirty && (
            <Button variant="ghost" onClick={draft.discard}>
              Discard
            </Button>
          )}
          <ToggleButton pressed={isTrying} onChange={onTry}>
            <Play aria-hidden /> Try it
          </ToggleButton>
          <Button
            variant="primary"
            busy={isSaving}
            disabled={!draft.isSavable}
            aria-keyshortcuts="Control+S Meta+S"
            title="Ctrl+S"
            onClick={draft.save}
          >
            Save
          </Button>
          <AgentMenu agent={agent} isDirty={isDirty} />
        </div>
      </div>
      <PublishDialog draft={draft} version={publishing} onClose={() => setPublishing(null)} />
    </header>
  );
}
