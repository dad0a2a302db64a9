import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { isMissing, NotFound, PageFailure, PagePending } from "../../../app/failures.tsx";
import { ToggleButton } from "../../../ui/toggle-button.tsx";
import { TryItPanel } from "../../try-it/try-it-panel.tsx";
import { type Tool, toolQuery } from "../tools.ts";
import { TryTool } from "../try/try-tool.tsx";
import { useToolDraft } from "./draft.ts";
import { ToolEditor } from "./tool-editor.tsx";
import { ToolMenu } from "./tool-menu.tsx";

/** A tool: its settings, and beside them a call that uses the tool as it is saved. */
export function ToolPage() {
  const { toolId } = useParams({ from: "/signed-in/tools/$toolId" });
  const tool = useQuery(toolQuery(toolId));
  if (tool.isPending) return <PagePending />;
  if (isMissing(tool.error)) return <NotFound what="tool" all="/tools" />;
  if (tool.isLoadingError) return <PageFailure error={tool.error} reset={() => tool.refetch()} />;
  return <Editor key={toolId} tool={tool.data} />;
}

function Editor({ tool }: { tool: Tool }) {
  const { try: isTrying = false } = useSearch({ from: "/signed-in/tools/$toolId" });
  const navigate = useNavigate({ from: "/tools/$toolId" });
  const draft = useToolDraft(tool);
  const setTrying = (on: boolean) => navigate({ search: on ? { try: true } : {}, replace: true });
  return (
    <div className="flex min-h-full">
      <div className="min-w-0 flex-1">
        <ToolEditor
          draft={draft}
          tool={tool}
          title={tool.name}
          actions={
            // A conversation's client makes the calls of client tools.
            tool.type !== "client" && (
              <ToggleButton pressed={isTrying} onChange={setTrying}>
                <Play aria-hidden /> Try
              </ToggleButton>
            )
          }
          menu={<ToolMenu tool={tool} onLeave={draft.discard} />}
        />
      </div>
      {isTrying && tool.type !== "client" && (
        <TryItPanel onClose={() => setTrying(false)}>
          {(close) => <TryTool tool={tool} isDirty={draft.isDirty} onClose={close} />}
        </TryItPanel>
      )}
    </div>
  );
}
