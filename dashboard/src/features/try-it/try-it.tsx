import { Link } from "@tanstack/react-router";
import { MessageSquareText, Mic, SlidersHorizontal, X } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/form/checkbox.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { useShownFirst } from "../../ui/painted.ts";
import { Notice } from "../../ui/states.tsx";
import { type AgentDraft, useShownPrompt } from "../agents/editor/draft.ts";
import { type Variable, variablesIn } from "../prompts/variables.ts";
import { Chat } from "./chat.tsx";
import { MissingKeys, useMissingKeys } from "./missing-keys.tsx";
import { Practice } from "./practice-notice.tsx";
import type { Kind } from "./setup.ts";
import { Talk } from "./talk.tsx";

const KINDS = [
  { value: "chat", label: "Chat", icon: MessageSquareText },
  { value: "talk", label: "Talk", icon: Mic },
] as const;

export interface Trying {
  kind: Kind;
  onKind: (kind: Kind) => void;
  onClose: () => void;
}

/**
 * A chat or a call with an agent.
 * @param tried the agent as it is on the screen, saved or not, or as a version has it
 * @param version that one, to say so; null for what is on the screen
 */
export function TryIt({
  tried,
  version = null,
  kind,
  onKind,
  onClose,
}: { tried: Pick<AgentDraft, "agent" | "values" | "changes">; version?: number | null } & Trying) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [showsValues, setShowsValues] = useState(false);
  const [asksStart, setAsksStart] = useState(false);
  const { agent, values: form, changes } = tried;
  const { text: prompt } = useShownPrompt(tried);
  const greeting = form.first_message_prompt ?? "";
  const variables = useMemo(() => variablesIn(prompt, greeting), [prompt, greeting]);
  const setup = {
    agentId: agent.id,
    version,
    changes,
    greeting,
    variables,
    asksStartWebhook: asksStart,
    values,
  };
  const hasModel = Boolean(form.llm || (kind === "talk" && form.sts));
  const missingKeys = useMissingKeys(form, kind);
  return (
    <>
      <div className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-4">
        <Kinds kind={kind} onKind={onKind} />
        <div className="ml-auto flex items-center gap-1">
          {variables.length > 0 && (
            <Button
              variant="ghost"
              size="small"
              aria-expanded={showsValues}
              onClick={() => setShowsValues(!showsValues)}
            >
              <SlidersHorizontal aria-hidden /> Variables
            </Button>
          )}
          <Button variant="ghost" size="icon" aria-label="Close Try it" onClick={onClose}>
            <X aria-hidden />
          </Button>
        </div>
      </div>
      {version !== null && (
        <p className="border-b border-line px-4 py-2 text-xs text-muted">
          You are trying version {version}, not what is on the screen.
        </p>
      )}
      {form.start_webhook && (
        <div className="border-b border-line px-4 py-3">
          <Checkbox checked={asksStart} onChange={setAsksStart} label="Ask the start webhook of the next one" />
        </div>
      )}
      {showsValues && <Values variables={variables} values={values} onChange={setValues} />}
      {!hasModel && (
        <div className="border-b border-line p-3">
          <Notice tone="warning">
            This agent has no language model yet.{" "}
            <Link from="/agents/$agentId" to="." search={{ tab: "models" }} className="underline">
              Choose one under Models
            </Link>
            .
          </Notice>
        </div>
      )}
      <MissingKeys keys={missingKeys} />
      <Practice agent={form} kind={kind} />
      {kind === "chat" ? <Chat setup={setup} /> : <Talk setup={setup} isMissingKey={missingKeys.length > 0} />}
    </>
  );
}

/** Renders alone when one of them is pressed. */
function Kinds({ kind, onKind }: { kind: Kind; onKind: (kind: Kind) => void }) {
  const [marked, mark] = useShownFirst(kind, onKind);
  return (
    <div role="tablist" aria-label="Ways to try the agent" className="flex rounded-lg bg-hover p-0.5">
      {KINDS.map(({ value, label, icon: Icon }) => (
        <button
          key={value}
          type="button"
          role="tab"
          aria-selected={marked === value}
          onClick={() => mark(value)}
          className={`inline-flex items-center gap-1.5 rounded-md px-3 py-1 font-medium ${marked === value ? "bg-chosen text-ink shadow-sm" : "text-muted hover:text-ink"}`}
        >
          <Icon className="size-4" aria-hidden /> {label}
        </button>
      ))}
    </div>
  );
}

function Values({
  variables,
  values,
  onChange,
}: {
  variables: readonly Variable[];
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
}) {
  return (
    <div className="flex max-h-60 flex-col gap-3 overflow-y-auto border-b border-line p-4">
      {variables.map(({ name, defaultValue, description }) => (
        <TextField
          key={name}
          label={<code className="font-mono text-[0.8125rem]">{name}</code>}
          hint={description || undefined}
          placeholder={defaultValue ?? "No value"}
          value={values[name] ?? ""}
          onChange={(event) => onChange({ ...values, [name]: event.target.value })}
        />
      ))}
    </div>
  );
}
