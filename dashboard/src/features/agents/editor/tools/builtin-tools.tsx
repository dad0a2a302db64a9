import { type ReactNode, useId } from "react";
import type { Schema } from "../../../../api/client.ts";
import { Field, FieldError } from "../../../../ui/form/field.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { type Option, Select } from "../../../../ui/form/select.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import type { AgentDraft } from "../draft.ts";
import { SOUNDS } from "./sounds.ts";

type Tools = Schema["Tools"];
type ToolName = keyof Tools;
type Settings = Record<string, unknown>;

interface Tool {
  name: ToolName;
  label: string;
  description: string;
  /** The configuration of a tool when it is switched on. */
  initial?: Settings;
  fields: readonly ToolField[];
}

interface ToolField {
  name: string;
  label: string;
  kind: "text" | "number" | "list" | "choice";
  hint?: string;
  /** Whether the API needs it once the tool is on. */
  isRequired?: boolean;
  options?: readonly Option[];
  placeholder?: string;
  min?: number;
  max?: number;
  step?: number;
}

const TRANSFERS: readonly Option[] = [
  { value: "cold", label: "At once" },
  { value: "warm", label: "After asking the person" },
];
const HOLD_SOUNDS: readonly Option[] = [
  { value: "ringing", label: "Ringing" },
  { value: "none", label: "Nothing" },
];
const MESSAGE: ToolField = { name: "message", label: "What the agent says", kind: "text" };
const IN_CONVERSATIONS: readonly Tool[] = [
  {
    name: "end_call",
    label: "End the conversation",
    description: "Lets the model say goodbye and end the conversation.",
    fields: [MESSAGE],
  },
  {
    name: "set_language",
    label: "Change the language",
    description: "Lets the model switch to another language.",
    fields: [
      { name: "languages", label: "Languages to choose from", kind: "list", placeholder: "Any, or a list: en, de, fr" },
    ],
  },
];
const IN_CALLS: readonly Tool[] = [
  {
    name: "transfer_call",
    label: "Transfer the call",
    description: "Lets the model transfer the caller to a person.",
    fields: [
      {
        name: "transfer_phone_number",
        label: "Phone number",
        kind: "list",
        hint: "For example, +14155550123, or several with commas, which the model chooses from.",
        isRequired: true,
      },
      { ...MESSAGE, label: "What the agent says to the caller" },
      { name: "mode", label: "How", kind: "choice", options: TRANSFERS },
      {
        name: "briefing",
        label: "What to tell the person first",
        kind: "text",
        hint: "For a transfer after asking the person: an instruction for the model.",
        placeholder: "Say who is calling and what they want.",
      },
      { name: "hold_sound", label: "What the caller hears while waiting", kind: "choice", options: HOLD_SOUNDS },
      { name: "accept_seconds", label: "Seconds to accept", kind: "number", min: 5, max: 120, placeholder: "30" },
    ],
  },
  {
    name: "send_dtmf",
    label: "Press keys",
    description: "Lets the model press keys of the telephone, such as to choose from the menu of a machine.",
    fields: [],
  },
  {
    name: "schedule_call",
    label: "Schedule another call",
    description: "Lets the model agree on a time for another call.",
    fields: [
      { name: "timezone", label: "Time zone", kind: "text", placeholder: "Europe/Berlin" },
      { name: "max_days_ahead", label: "Maximum days ahead", kind: "number", min: 1, max: 365 },
    ],
  },
];
const SETTINGS: readonly Tool[] = [
  {
    name: "user_idle",
    label: "Check in after silence",
    description: "The agent asks whether anyone is still there.",
    initial: { timeout_seconds: 10, max_reminders: 2 },
    fields: [
      { name: "timeout_seconds", label: "Seconds of silence", kind: "number", isRequired: true, min: 1, max: 600 },
      { name: "max_reminders", label: "Maximum reminders", kind: "number", isRequired: true, min: 0, max: 10 },
      { ...MESSAGE, label: "What the agent says" },
    ],
  },
  {
    name: "background_audio",
    label: "Background sound",
    description: "Plays a sound behind the agent's voice.",
    initial: { sound: "office", volume: 0.3 },
    fields: [
      { name: "sound", label: "Sound", kind: "choice", isRequired: true, options: SOUNDS },
      { name: "volume", label: "Volume, 0 to 1", kind: "number", isRequired: true, min: 0, max: 1, step: 0.05 },
    ],
  },
];

/** How the editor calls a tool. */
export function labelOfBuiltIn(name: string): string {
  return [...IN_CONVERSATIONS, ...IN_CALLS, ...SETTINGS].find((tool) => tool.name === name)?.label ?? name;
}

/** What acts on the conversation itself. */
export function BuiltInTools({ draft }: { draft: AgentDraft }) {
  return (
    <>
      <Group title="In every conversation" tools={IN_CONVERSATIONS} draft={draft} />
      <Group title="On calls" tools={IN_CALLS} draft={draft} />
      <Group title="Call audio" tools={SETTINGS} draft={draft} />
    </>
  );
}

function Group({ title, tools, draft }: { title: string; tools: readonly Tool[]; draft: AgentDraft }) {
  const given = draft.values.tools ?? {};
  const setTool = (name: ToolName, value: Tools[ToolName]) => draft.set({ tools: { ...given, [name]: value } });
  return (
    <Section title={title}>
      {tools.map((tool) => (
        <ToolRow
          key={tool.name}
          tool={tool}
          value={given[tool.name]}
          onChange={(value) => setTool(tool.name, value)}
          errorAt={(field) => draft.errorAt(`tools.${tool.name}${field && `.${field}`}`)}
        />
      ))}
    </Section>
  );
}

function ToolRow({
  tool,
  value,
  onChange,
  errorAt,
}: {
  tool: Tool;
  value: Tools[ToolName];
  onChange: (value: Tools[ToolName]) => void;
  errorAt: (field: string) => string | undefined;
}) {
  const id = useId();
  const isOn = value !== undefined && value !== false;
  const settings: Settings = typeof value === "object" ? value : {};
  const setField = (name: string, next: unknown) => {
    const { [name]: _, ...others } = settings;
    const changed = next === undefined ? others : { ...others, [name]: next };
    onChange((Object.keys(changed).length === 0 ? plainly(tool) : changed) as Tools[ToolName]);
  };
  return (
    <div className="rounded-lg border border-line p-4">
      <div className="flex items-start gap-4">
        <label htmlFor={id} className="min-w-0 flex-1">
          <span className="block font-medium">{tool.label}</span>
          <span className="block text-muted">{tool.description}</span>
        </label>
        <Switch
          id={id}
          checked={isOn}
          onChange={(on) => onChange((on ? (tool.initial ?? plainly(tool)) : false) as Tools[ToolName])}
        />
      </div>
      <FieldError className="mt-2">{errorAt("")}</FieldError>
      {isOn && (
        <div className="mt-4 grid gap-4 border-t border-line pt-4 sm:grid-cols-2">
          {tool.fields.map((field) => (
            <ToolFieldInput
              key={field.name}
              field={field}
              value={settings[field.name]}
              onChange={(next) => setField(field.name, next)}
              error={errorAt(field.name)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** A tool that is on without a configuration. */
function plainly({ fields }: Tool): Settings | true {
  return fields.some(({ isRequired }) => isRequired) ? {} : true;
}

function ToolFieldInput({
  field: { label, kind, hint, options = [], isRequired = false, name: _, ...attributes },
  value,
  onChange,
  error,
}: {
  field: ToolField;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
}): ReactNode {
  const read = (text: string) => {
    if (text.trim() === "") return undefined;
    if (kind === "number") return Number(text);
    return kind === "list" ? text.split(",").map((each) => each.trim()) : text;
  };
  const shown = Array.isArray(value) ? value.join(", ") : ((value as string | number | undefined) ?? "");
  return (
    <Field label={label} hint={hint} optional={!isRequired} error={error}>
      {(control) =>
        kind === "choice" ? (
          <Select {...control} value={String(shown)} onChange={onChange} options={withOwn(options, String(shown))} />
        ) : (
          <Input
            {...control}
            {...attributes}
            type={kind === "number" ? "number" : "text"}
            value={shown}
            onChange={(event) => onChange(read(event.target.value))}
          />
        )
      }
    </Field>
  );
}

/** A voice runtime may have values of its own, set through the API. */
function withOwn(options: readonly Option[], value: string): readonly Option[] {
  return value === "" || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];
}
