import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { api, ask } from "../../../api/client.ts";
import { fieldsOf, messageAt } from "../../../api/problem.ts";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { PROMPTS } from "../../prompts/prompts.ts";
import { useSharedText } from "../../prompts/shared-text.ts";
import { AGENTS, type Agent, agentQuery, type Changes } from "../agents.ts";

export interface AgentDraft {
  agent: Agent;
  /** The agent as it would be with the changes. */
  values: Changes;
  /** Only what differs from the stored agent. */
  changes: Changes;
  isDirty: boolean;
  set(changed: Changes): void;
  discard(): void;
  save(): void;
  isSaving: boolean;
  /** Why the last save was refused; null when it was not, or something changed since. */
  refusal: Error | null;
  /** The API's message about a field, or about the first wrong item of a list. */
  errorAt(path: string): string | undefined;
}

/** The changes of an agent until they are saved. */
export function useAgentDraft(agent: Agent): AgentDraft {
  const client = useQueryClient();
  const [changes, setChanges] = useState<Changes>({});
  const stored = useMemo(() => storedValues(agent), [agent]);
  const write = useMutation({
    mutationFn: (body: Changes) =>
      ask(
        api.PATCH("/v1/public/agents/{agent_id}", {
          params: { path: { agent_id: agent.id }, query: { move_numbers: true } },
          body,
        }),
      ),
    onSuccess: async (saved, sent) => {
      client.setQueryData(agentQuery(agent.id).queryKey, saved);
      // Text typed during the save stays a change.
      setChanges((now) => without(now, sent));
      tellDone("Saved");
      await Promise.all([
        // Another agent may have given a number away.
        client.invalidateQueries({ queryKey: sent.agent_mobile_number ? AGENTS : [...AGENTS, "list"] }),
        client.invalidateQueries({ queryKey: PROMPTS }),
      ]);
    },
  });
  const { mutate, reset } = write;
  const set = useCallback(
    (changed: Changes) => {
      reset();
      setChanges((now) => without(withOnePrompt({ ...now, ...changed }, changed), stored));
    },
    [stored, reset],
  );
  const discard = useCallback(() => {
    reset();
    setChanges({});
  }, [reset]);
  const fields = fieldsOf(write.error);
  return {
    agent,
    values: { ...stored, ...changes },
    changes,
    isDirty: Object.keys(changes).length > 0,
    set,
    discard,
    save: () => mutate(changes),
    isSaving: write.isPending,
    refusal: write.error,
    errorAt: (path) => messageAt(fields, path),
  };
}

/** An agent's prompt as it is on the screen. */
export interface ShownPrompt {
  /** Null for a text of the agent's own; its version is null for always the latest. */
  shared: { name: string; version: number | null } | null;
  text: string;
}

/** The prompt with the changes. */
export function useShownPrompt({ agent, values, changes }: AgentDraft): ShownPrompt {
  const name = "prompt_content" in changes ? null : (values.prompt?.prompt_name ?? null);
  const version = values.prompt?.prompt_version ?? null;
  const stored = "prompt" in changes ? null : agent.prompt;
  const read = useSharedText(name, version);
  if (name === null) return { shared: null, text: values.prompt_content ?? "" };
  return { shared: { name, version }, text: stored?.prompt_content ?? read ?? "" };
}

/** The name of the prompt that holds an agent's own text (docs/api-reference.md#prompts-of-an-agent). */
export function ownPromptName(agentId: string): string {
  return `agent-${agentId}`;
}

/** The stored agent in the form of its changes. */
function storedValues(agent: Agent): Changes {
  const isOwn = agent.prompt === null || agent.prompt.prompt_name === ownPromptName(agent.id);
  return {
    agent_name: agent.agent_name,
    agent_type: agent.agent_type,
    agent_description: agent.agent_description,
    agent_category: agent.agent_category,
    agent_mobile_number: agent.agent_mobile_number,
    first_message_prompt: agent.first_message_prompt,
    tools: agent.tools,
    call_settings: agent.call_settings,
    widget_config: agent.widget_config,
    stt: agent.stt as Changes["stt"],
    llm: agent.llm as Changes["llm"],
    tts: agent.tts as Changes["tts"],
    call_analysis_enabled: agent.call_analysis_enabled,
    call_analysis_prompt: agent.call_analysis_prompt ?? null,
    call_analysis_schema: agent.call_analysis_schema ?? null,
    ...(isOwn
      ? { prompt_content: agent.prompt?.prompt_content ?? null }
      : { prompt: agent.prompt && storedReference(agent.prompt, agent.prompt_pinned) }),
  };
}

function storedReference({ prompt_name, prompt_version }: NonNullable<Agent["prompt"]>, isPinned: boolean) {
  return { prompt_name, ...(isPinned && { prompt_version }) };
}

/** An agent has a text of its own or a named prompt: the one that was set last. */
function withOnePrompt(changes: Changes, changed: Changes): Changes {
  const { prompt, prompt_content, ...others } = changes;
  if ("prompt_content" in changed) return { ...others, prompt_content: prompt_content ?? null };
  if ("prompt" in changed) return { ...others, prompt: prompt ?? null };
  return changes;
}

/** The changes that differ from `known`. */
function without(changes: Changes, known: Changes): Changes {
  const differing = Object.entries(changes).filter(
    ([field, value]) => !(field in known) || !isSame(value, known[field as keyof Changes]),
  );
  return Object.fromEntries(differing);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
