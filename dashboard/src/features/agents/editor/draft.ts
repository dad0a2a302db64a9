import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { api } from "../../../api/client.ts";
import { fieldsOf, messageAt, Problem } from "../../../api/problem.ts";
import { useKeptWork } from "../../../ui/form/kept-work.ts";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { PROMPTS } from "../../prompts/prompts.ts";
import { useSharedText, type WhichVersion } from "../../prompts/shared-text.ts";
import { AGENTS, type Agent, agentQuery, type Changes } from "../agents.ts";
import { versionsOf } from "../versions/versions.ts";
import { type Conflict, conflictsOf, dropped, type Edits, edited, joined, kept, NO_EDITS, unsaved } from "./edits.ts";
import type { Entered } from "./models/entered.ts";
import { withoutSecrets } from "./without-secrets.ts";

export interface AgentDraft {
  agent: Agent;
  /** The agent as it would be with the changes. */
  values: Changes;
  /** Only what differs from the stored agent. */
  changes: Changes;
  isDirty: boolean;
  /** Whether there is something to save, and nothing in its way. */
  isSavable: boolean;
  set(changed: Changes): void;
  /** What the version is for that a save makes; "" for nothing. */
  note: string;
  setNote(note: string): void;
  discard(): void;
  /** Resolves to whether it was saved. */
  save(): Promise<boolean>;
  isSaving: boolean;
  /** Why the last save was refused; null when it was not, or something changed since. */
  refusal: Error | null;
  /** The API's message about a field, or about the first wrong item of a list. */
  errorAt(path: string): string | undefined;
  /** What was changed here and elsewhere too; nothing is saved until all of it is settled. */
  conflicts: readonly Conflict[];
  settle(field: keyof Changes, choice: "mine" | "theirs"): void;
  /** The settings of providers that were left for another one. */
  entered: Entered;
  /** When the changes were made that an earlier visit left unsaved; null for none, or once that is decided. */
  offeredAt: string | null;
  /** Takes over what was left unsaved, or forgets it. */
  decide(choice: "restore" | "forget"): void;
}

/** How often a save that others' changes came before is tried on top of them. */
const ATTEMPTS_MAX = 3;

/** The changes of an agent until they are saved. */
export function useAgentDraft(agent: Agent): AgentDraft {
  const client = useQueryClient();
  const [edits, setEdits] = useState(NO_EDITS);
  const [note, setNote] = useState("");
  const entered = useRef<Entered>(new Map()).current;
  const stored = useMemo(() => storedValues(agent), [agent]);
  const write = useMutation({
    mutationFn: async (sent: Edits) => {
      let based = agent;
      const body = { ...sent.changes, ...(note.trim() !== "" && { version_note: note }) };
      for (let attempt = 1; ; attempt++) {
        try {
          return await patch(based, body);
        } catch (error) {
          if (!(error instanceof Problem) || error.status !== 409 || attempt === ATTEMPTS_MAX) throw error;
          const current = await client.fetchQuery({ ...agentQuery(agent.id), staleTime: 0 });
          if (current.updated_at === based.updated_at) throw error;
          // Changes of other fields can stand beside these.
          if (conflictsOf(sent, storedValues(current)).length > 0) throw new Problem(409, CHANGED);
          based = current;
        }
      }
    },
    onSuccess: async (saved, { changes: sent }) => {
      client.setQueryData(agentQuery(agent.id).queryKey, saved);
      setEdits((now) => unsaved(now, sent, storedValues(saved)));
      setNote("");
      // Masks that were entered for other providers no longer stand for a key.
      entered.clear();
      tellDone("Saved");
      await Promise.all([
        // Another agent may have given a number away.
        client.invalidateQueries({ queryKey: sent.agent_mobile_number ? AGENTS : [...AGENTS, "list"] }),
        client.invalidateQueries({ queryKey: PROMPTS }),
        client.invalidateQueries({ queryKey: versionsOf(agent.id) }),
      ]);
    },
  });
  const { mutateAsync, reset } = write;
  const change = useCallback(
    (next: (now: Edits) => Edits) => {
      reset();
      setEdits(next);
    },
    [reset],
  );
  const set = useCallback((changed: Changes) => change((now) => edited(now, changed, stored)), [stored, change]);
  const { offered, decided, forget } = useKeptWork<Edits>(agent.id, (left) => keptEdits(left, edits));
  const fields = fieldsOf(write.error);
  const { changes } = edits;
  const isDirty = Object.keys(changes).length > 0;
  // The answer to a save comes a moment before the agent that it made.
  const conflicts = write.isPending ? [] : conflictsOf(edits, stored);
  return {
    agent,
    values: { ...stored, ...changes },
    changes,
    isDirty,
    isSavable: isDirty && conflicts.length === 0 && !write.isPending,
    set,
    note,
    setNote,
    discard: () => {
      forget();
      setNote("");
      change(() => NO_EDITS);
    },
    save: () =>
      mutateAsync(edits).then(
        () => true,
        () => false,
      ),
    isSaving: write.isPending,
    refusal: write.error,
    errorAt: (path) => messageAt(fields, path),
    conflicts,
    settle: (field, choice) => change((now) => (choice === "mine" ? kept(now, field, stored) : dropped(now, field))),
    entered,
    offeredAt: offered?.at ?? null,
    decide: (choice) => {
      if (choice === "restore" && offered) change((now) => joined(offered.work, now, stored));
      if (choice === "restore") decided();
      else forget();
    },
  };
}

/** The edits to keep, on top of those that were left before; null for none. */
function keptEdits(offered: Edits | null, edits: Edits): Edits | null {
  if (Object.keys(edits.changes).length === 0) return null;
  return withoutSecrets(offered ? joined(offered, edits, {}) : edits);
}

const CHANGED = "This agent was changed in another tab or by someone else.";

/** Changes the agent only if it is still the one that is on the screen. */
function patch({ id, updated_at, publishing }: Agent, body: Changes): Promise<Agent> {
  // What takes effect at once takes its numbers over; otherwise publishing it tells who answers them.
  const isAuto = (body.publishing ?? publishing) === "auto";
  const query = { if_updated_at: updated_at, ...(isAuto && { move_numbers: true }) };
  return api.PATCH("/v1/public/agents/{agent_id}", { params: { path: { agent_id: id }, query }, body });
}

/** An agent's prompt as it is on the screen. */
export interface ShownPrompt {
  /** Null for a text of the agent's own. */
  shared: { name: string; which: WhichVersion } | null;
  text: string;
}

/** The prompt with the changes. */
export function useShownPrompt({
  agent,
  values,
  changes,
}: Pick<AgentDraft, "agent" | "values" | "changes">): ShownPrompt {
  const name = "prompt_content" in changes ? null : (values.prompt?.prompt_name ?? null);
  const which = values.prompt ?? {};
  const stored = "prompt" in changes ? null : agent.prompt;
  const read = useSharedText(name, which);
  if (name === null) return { shared: null, text: values.prompt_content ?? "" };
  return { shared: { name, which }, text: stored?.prompt_content ?? read ?? "" };
}

/** The name of the prompt that holds an agent's own text (docs/api-reference.md#prompts-of-an-agent). */
export function ownPromptName(agentId: string): string {
  return `agent-${agentId}`;
}

/** The stored agent in the form of its changes. */
export function storedValues(agent: Agent): Changes {
  const isOwn = agent.prompt === null || agent.prompt.prompt_name === ownPromptName(agent.id);
  return {
    agent_name: agent.agent_name,
    agent_type: agent.agent_type,
    agent_description: agent.agent_description,
    agent_category: agent.agent_category,
    agent_mobile_number: agent.agent_mobile_number,
    first_message_prompt: agent.first_message_prompt,
    tools: agent.tools,
    custom_tools: agent.custom_tools,
    handoffs: agent.handoffs,
    knowledge: agent.knowledge,
    timezone: agent.timezone,
    start_webhook: startWebhookOf(agent),
    call_settings: agent.call_settings,
    widget_config: agent.widget_config,
    stt: agent.stt as Changes["stt"],
    llm: agent.llm as Changes["llm"],
    tts: agent.tts as Changes["tts"],
    sts: agent.sts ?? null,
    recording: agent.recording,
    whatsapp: agent.whatsapp,
    agent_tips: agent.agent_tips,
    MediaFiles: agent.MediaFiles,
    call_analysis_enabled: agent.call_analysis_enabled,
    call_analysis_prompt: agent.call_analysis_prompt ?? null,
    call_analysis_schema: agent.call_analysis_schema ?? null,
    publishing: agent.publishing,
    ...(isOwn
      ? { prompt_content: agent.prompt?.prompt_content ?? null }
      : { prompt: agent.prompt && storedReference(agent.prompt, agent.prompt_pinned) }),
  };
}

/** Without its secret, which then stays as it is. */
function startWebhookOf({ start_webhook }: Agent): Changes["start_webhook"] {
  if (!start_webhook) return null;
  const { secret: _, ...shown } = start_webhook;
  return shown;
}

function storedReference(
  { prompt_name, prompt_version, prompt_label }: NonNullable<Agent["prompt"]>,
  isPinned: boolean,
) {
  return { prompt_name, ...(isPinned && { prompt_version }), ...(prompt_label !== undefined && { prompt_label }) };
}
