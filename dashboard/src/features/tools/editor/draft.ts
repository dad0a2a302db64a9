import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../../api/client.ts";
import { Problem } from "../../../api/problem.ts";
import { type FormDraft, useFormDraft } from "../../../ui/editor/form-draft.ts";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { TOOLS, type Tool, toolQuery } from "../tools.ts";
import { bodyOf, formOf, type ToolBody, type ToolForm } from "./form.ts";

export type ToolDraft = FormDraft<ToolForm>;

/** The changes of a stored tool until they are saved. */
export function useToolDraft(tool: Tool): ToolDraft {
  const client = useQueryClient();
  const stored = useMemo(() => formOf(tool), [tool]);
  const { queryKey } = toolQuery(tool.id);
  const write = async (body: ToolBody, base: string) => {
    const params = { path: { tool_id: tool.id }, query: { if_updated_at: base } };
    const saved = await api.PATCH("/v1/public/tools/{tool_id}", { params, body }).catch(async (error) => {
      // Somebody else's change shows, if that was the reason.
      if (error instanceof Problem && error.status === 409) await client.invalidateQueries({ queryKey });
      throw error;
    });
    client.setQueryData(queryKey, saved);
    tellDone("Saved");
    await client.invalidateQueries({ queryKey: TOOLS, predicate: (query) => query.queryKey[1] !== "one" });
    return saved.updated_at;
  };
  return useFormDraft({ stored, version: tool.updated_at, thing: tool.id, bodyOf, write });
}

/**
 * A tool that does not exist yet.
 * @param begun its first form
 * @param onMade gets the stored tool with its signing secret
 */
export function useNewToolDraft(
  begun: ToolForm,
  onMade: (tool: Tool & { signing_secret?: string }) => void,
): ToolDraft {
  const client = useQueryClient();
  const write = async (changes: ToolBody) => {
    const { name = "", description = "" } = changes;
    const body = { ...bodyOf(begun).body, ...changes, type: begun.type, name: name ?? "", description };
    const made = await api.POST("/v1/public/tools", { body });
    onMade(made);
    await client.invalidateQueries({ queryKey: TOOLS });
    return made.updated_at;
  };
  return useFormDraft({ stored: begun, version: "", thing: `new-tool-${begun.type}`, bodyOf, write });
}
