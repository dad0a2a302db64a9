import { Link, useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { sentenceOf } from "../../../api/problem.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { LeftWork } from "../../../ui/form/left-work.tsx";
import { useSaveShortcut } from "../../../ui/form/save-shortcut.ts";
import { Sections } from "../../../ui/form/section.tsx";
import { UnsavedChanges } from "../../../ui/form/unsaved-changes.tsx";
import { followedAfterPaint } from "../../../ui/painted.ts";
import { Notice } from "../../../ui/states.tsx";
import { labelOfType, type Tool } from "../tools.ts";
import { AboutSection } from "./about-section.tsx";
import { AnswerSection } from "./answer-section.tsx";
import type { ToolDraft } from "./draft.ts";
import { McpSection, McpTools } from "./mcp-section.tsx";
import { ParametersSection } from "./parameters/parameters-section.tsx";
import { RequestSection } from "./request-section.tsx";
import { RunningSection } from "./running-section.tsx";
import { SpeechSection } from "./speech-section.tsx";

/**
 * The settings of a tool in sections.
 * @param tool as it is stored; null for a new one
 */
export function ToolEditor({
  draft,
  tool,
  title,
  actions,
  menu,
}: {
  draft: ToolDraft;
  tool: Tool | null;
  title: string;
  actions?: ReactNode;
  menu?: ReactNode;
}) {
  const { type } = draft.form;
  useSaveShortcut(draft.isSavable ? draft.save : null);
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <>
      <Header draft={draft} tool={tool} title={title} actions={actions} menu={menu} />
      <div className="mx-auto flex max-w-4xl flex-col gap-6 px-4 pt-6 pb-16 sm:px-8">
        <LeftWork at={draft.offeredAt} onDecide={draft.decide} />
        {draft.isOutdated ? (
          <Notice tone="warning">
            <p>This tool was changed in another tab or by someone else while you were editing.</p>
            <div className="mt-2 flex flex-wrap gap-2">
              <Button size="small" onClick={draft.keepMine}>
                Keep my changes
              </Button>
              <Button size="small" onClick={draft.discard}>
                Use theirs
              </Button>
            </div>
          </Notice>
        ) : (
          draft.refusal && <Notice tone="danger">Could not save: {sentenceOf(draft.refusal)}</Notice>
        )}
        <Sections>
          <AboutSection draft={draft} />
          {type !== "client" && <RequestSection draft={draft} />}
          {type === "mcp" && <McpSection draft={draft} />}
          {tool?.type === "mcp" && <McpTools tool={tool} />}
          {type !== "mcp" && <ParametersSection draft={draft} />}
          {type === "http" && <AnswerSection draft={draft} />}
          <RunningSection draft={draft} />
          <SpeechSection draft={draft} />
        </Sections>
      </div>
      <UnsavedChanges
        isDirty={draft.isDirty}
        name={title}
        onSave={tool && draft.isSavable ? draft.save : undefined}
        onDiscard={draft.discard}
      />
    </>
  );
}

function Header({
  draft: { form, isDirty, isSavable, isSaving, save, discard },
  tool,
  title,
  actions,
  menu,
}: {
  draft: ToolDraft;
  tool: Tool | null;
  title: string;
  actions: ReactNode;
  menu: ReactNode;
}) {
  const navigate = useNavigate();
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-canvas/95 backdrop-blur max-lg:top-13">
      <div className="mx-auto flex max-w-4xl flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 sm:px-8">
        <Link
          to="/tools"
          search={{}}
          aria-label="All tools"
          onClick={followedAfterPaint(() => navigate({ to: "/tools", search: {} }))}
          className="-ml-1 rounded-md p-1 text-muted hover:bg-hover active:opacity-80"
        >
          <ChevronLeft className="size-5" aria-hidden />
        </Link>
        <div className="min-w-0 flex-1 basis-40">
          <h1 className="flex items-center gap-2 text-lg leading-6 font-semibold tracking-tight">
            <span className={clsx("truncate", tool && "font-mono text-base")}>{title}</span>
            {tool && <Badge>{labelOfType(form.type)}</Badge>}
          </h1>
          {tool && <p className="truncate font-mono text-xs text-muted select-all">{tool.id}</p>}
        </div>
        <span role="status" className={clsx(!isDirty && "sr-only")}>
          {isDirty && tool && <Badge tone="warning">Unsaved changes</Badge>}
        </span>
        <div className="flex items-center gap-2">
          {isDirty && (
            <Button variant="ghost" onClick={discard}>
              {tool ? "Discard" : "Clear"}
            </Button>
          )}
          {actions}
          <Button
            variant="primary"
            busy={isSaving}
            disabled={!isSavable}
            aria-keyshortcuts="Control+S Meta+S"
            title="Ctrl+S"
            onClick={save}
          >
            {tool ? "Save" : "Create tool"}
          </Button>
          {menu}
        </div>
      </div>
    </header>
  );
}
