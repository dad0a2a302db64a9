import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { Rows } from "../../../ui/form/rows.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { TOOL_SOUNDS } from "../../agents/editor/tools/sounds.ts";
import type { ToolDraft } from "./draft.ts";
import type { ToolForm } from "./form.ts";

type Speech = NonNullable<ToolForm["speech"]>;

const BEFORE = [
  { value: "auto", label: "What the model says with the call" },
  { value: "off", label: "Nothing" },
  { value: "text", label: "A sentence of mine" },
];
const NO_SOUND = "none";
const MS = 1_000;
const LINES_MAX = 10;
const FIRST_LINE_MS = 4_000;

/** What a caller hears while the tool runs. */
export function SpeechSection({ draft: { form, set, errorAt } }: { draft: ToolDraft }) {
  const speech: Speech = form.speech ?? {};
  const change = (changed: Partial<Speech>) => set({ speech: { ...speech, ...changed } });
  const before = speech.before ?? "auto";
  const kind = before === "auto" || before === "off" ? before : "text";
  return (
    <Section title="In calls" description="What a caller hears while the tool runs.">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <SelectField
          label="When the call begins"
          error={kind === "text" ? undefined : errorAt("speech.before")}
          value={kind}
          onChange={(next) => change({ before: next === "text" ? "One moment, please." : next })}
          options={BEFORE}
        />
        <SelectField
          label="Sound while the caller waits"
          error={errorAt("speech.sound")}
          value={speech.sound ?? NO_SOUND}
          onChange={(sound) => change({ sound: sound === NO_SOUND ? null : sound })}
          options={[{ value: NO_SOUND, label: "None" }, ...withOwn(speech.sound)]}
        />
        {kind === "text" && (
          <TextField
            label="The agent says"
            className="sm:col-span-2"
            error={errorAt("speech.before")}
            maxLength={1_000}
            value={before}
            onChange={(event) => change({ before: event.target.value })}
          />
        )}
      </div>
      <DelayedLines
        lines={speech.delayed ?? []}
        onChange={(delayed) => change({ delayed })}
        errorAt={(path) => errorAt(`speech.delayed.${path}`)}
      />
    </Section>
  );
}

/** A voice runtime may have sounds of its own, set through the API. */
function withOwn(sound: string | null | undefined) {
  const isKnown = sound == null || TOOL_SOUNDS.some(({ value }) => value === sound);
  return isKnown ? TOOL_SOUNDS : [...TOOL_SOUNDS, { value: sound, label: sound }];
}

type Lines = NonNullable<Speech["delayed"]>;

function DelayedLines({
  lines,
  onChange,
  errorAt,
}: {
  lines: Lines;
  onChange: (lines: Lines) => void;
  errorAt: (path: string) => string | undefined;
}) {
  return (
    <Rows
      label="If it takes longer"
      item="line"
      rows={lines}
      max={LINES_MAX}
      onChange={onChange}
      blank={() => ({ after_ms: (lines.at(-1)?.after_ms ?? 0) + FIRST_LINE_MS, text: "" })}
      columns="sm:grid-cols-[8rem_minmax(0,1fr)_2rem]"
    >
      {({ after_ms, text }, change, at) => (
        <>
          <TextField
            label="After seconds"
            error={errorAt(`${at}.after_ms`)}
            type="number"
            min={0.5}
            max={120}
            step="any"
            value={after_ms / MS}
            onChange={({ target }) => change({ after_ms: Math.round(Number(target.value) * MS) })}
          />
          <TextField
            label="The agent says"
            error={errorAt(`${at}.text`)}
            maxLength={1_000}
            placeholder="I'm still looking."
            value={text}
            onChange={(event) => change({ text: event.target.value })}
          />
        </>
      )}
    </Rows>
  );
}
