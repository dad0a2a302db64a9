import { Link, useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { BACK_LINK, EditorFrame } from "../../../ui/editor/editor-frame.tsx";
import { Sections } from "../../../ui/form/section.tsx";
import { followedAfterPaint } from "../../../ui/painted.ts";
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
  const navigate = useNavigate();
  return (
    <EditorFrame
      draft={draft}
      what="tool"
      title={title}
      heading={
        <>
          <span className={clsx("truncate", tool && "font-mono text-base")}>{title}</span>
          {tool && <Badge>{labelOfType(type)}</Badge>}
        </>
      }
      id={tool?.id ?? null}
      back={
        <Link
          to="/tools"
          search={{}}
          aria-label="All tools"
          onClick={followedAfterPaint(() => navigate({ to: "/tools", search: {} }))}
          className={BACK_LINK}
        >
          <ChevronLeft className="size-5" aria-hidden />
        </Link>
      }
      actions={actions}
      menu={menu}
    >
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
    </EditorFrame>
  );
}
