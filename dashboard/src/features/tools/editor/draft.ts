import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, ask } from "../../../api/client.ts";
import { fieldsOf, messageAt, Problem } from "../../../api/problem.ts";
import { useKeptWork } from "../../../ui/form/kept-work.ts";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { TOOLS, type Tool, toolQuery } from "../tools.ts";
import { bodyOf, changesOf, formOf, type ToolBody, type ToolForm } from "./form.ts";

export interface ToolDraft {
  form: ToolForm;
  set(changed: Partial<ToolForm>): void;
  isDirty: boolean;
  /** Whether there is something to save, and nothing in its way. */
  isSavable: boolean;
  isSaving: boolean;
  /** Resolves to whether it was saved. */
  save(): Promise<boolean>;
  discard(): void;
  /** Whether the tool was changed elsewhere since these changes were begun; nothing is saved until that is settled. */
  isOutdated: boolean;
  /** Puts these changes on top of those that were made elsewhere. */
  keepMine(): void;
  /** Why the last save was refused; null when it was not, or something changed since. */
  refusal: Error | null;
  /** What is wrong with a field, by its path in the API. */
  errorAt(path: string): string | undefined;
  /** The same, for a field or anything in it. */
  errorIn(path: string): string | undefined;
  /** When the changes were made that an earlier visit left unsaved; null for none, or once that is decided. */
  offeredAt: string | null;
  decide(choice: "restore" | "forget"): void;
}

/** What is edited, and how it is saved. */
interface Edited {
  /** The form without changes. */
  stored: ToolForm;
  /** Of what is stored; "" for a new tool. */
  version: string;
  /** Names what is edited, for changes that are left unsaved. */
  thing: string;
  /**
   * @param changes the fields that differ from those stored
   * @param base the version that they were made of
   * @returns the new version
   */
  write(changes: ToolBody, base: string): Promise<string>;
}

interface Edits {
  changed: Partial<ToolForm>;
  base: string;
}

/** The changes of a stored tool until they are saved. */
export function useToolDraft(tool: Tool): ToolDraft {
  const client = useQueryClient();
  const stored = useMemo(() => formOf(tool), [tool]);
  const { queryKey } = toolQuery(tool.id);
  const write = async (body: ToolBody, base: string) => {
    const params = { path: { tool_id: tool.id }, query: { if_updated_at: base } };
    const saved = await ask(api.PATCH("/v1/public/tools/{tool_id}", { params, body })).catch(async (error) => {
      // Somebody else's change shows, if that was the reason.
      if (error instanceof Problem && error.status === 409) await client.invalidateQueries({ queryKey });
      throw error;
    });
    client.setQueryData(queryKey, saved);
    tellDone("Saved");
    await client.invalidateQueries({ queryKey: TOOLS, predicate: (query) => query.queryKey[1] !== "one" });
    return saved.updated_at;
  };
  return useDraft({ stored, version: tool.updated_at, thing: tool.id, write });
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
    const made = await ask(api.POST("/v1/public/tools", { body }));
    onMade(made);
    await client.invalidateQueries({ queryKey: TOOLS });
    return made.updated_at;
  };
  return useDraft({ stored: begun, version: "", thing: `new-tool-${begun.type}`, write });
}

function useDraft({ stored, version, thing, write }: Edited): ToolDraft {
  const [edits, setEdits] = useState<Edits | null>(null);
  const [showsFaults, setShowsFaults] = useState(false);
  const isNew = version === "";
  const form = { ...stored, ...edits?.changed };
  const { body, faults } = bodyOf(form);
  const changes = changesOf(bodyOf(stored).body, body);
  const save = useMutation({
    mutationFn: async (sent: Edits | null) => {
      const base = await write(changes, sent?.base ?? version);
      // What was typed during the save stays a change; the form of a new tool stays until the tool's page shows.
      if (!isNew) setEdits((now) => (now === sent || now === null ? null : { ...now, base }));
    },
  });
  const isMade = isNew && save.isSuccess;
  const isDirty = edits !== null && !isMade && (Object.keys(changes).length > 0 || faults.size > 0);
  const isOutdated = isDirty && edits.base !== version && !save.isPending;
  const { offered, decided, forget } = useKeptWork<Edits>(thing, () => (isDirty ? edits : null));
  const refused = fieldsOf(save.error);
  const told = showsFaults ? new Map([...refused, ...faults]) : refused;
  const change = (next: (now: Edits | null) => Edits | null) => {
    save.reset();
    setEdits(next);
  };
  return {
    form,
    set: (changed) => change((now) => ({ changed: { ...now?.changed, ...changed }, base: now?.base ?? version })),
    isDirty,
    isSavable: isDirty && !isOutdated && !save.isPending,
    isSaving: save.isPending,
    save: async () => {
      setShowsFaults(true);
      if (faults.size > 0) return false;
      return save.mutateAsync(edits).then(
        () => true,
        () => false,
      );
    },
    discard: () => {
      forget();
      setShowsFaults(false);
      change(() => null);
    },
    isOutdated,
    keepMine: () => change((now) => now && { ...now, base: version }),
    refusal: save.error,
    errorAt: (path) => messageAt(told, path),
    errorIn: (path) => told.get(path) ?? [...told].find(([at]) => at.startsWith(`${path}.`))?.[1],
    offeredAt: offered?.at ?? null,
    decide: (choice) => {
      if (choice === "restore" && offered) change(() => offered.work);
      if (choice === "restore") decided();
      else forget();
    },
  };
}
