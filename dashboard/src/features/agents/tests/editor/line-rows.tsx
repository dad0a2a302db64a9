import { NumberField, SelectField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
import { Rows } from "../../../../ui/form/rows.tsx";
import type { TestDraft } from "./draft.ts";
import { type LineRow, NEW_LINE } from "./form.ts";

const MESSAGES_MAX = 50;
const NOISES = [
  { value: "none", label: "None" },
  { value: "cafe", label: "Café" },
  { value: "street", label: "Street" },
];

/** What the user says, in order; in a call, with what else is heard. */
export function LineRows({ draft: { form, set, errorAt } }: { draft: TestDraft }) {
  return (
    <Rows
      label="What the user says"
      item="message"
      rows={form.messages}
      max={MESSAGES_MAX}
      onChange={(messages) => set({ messages })}
      blank={() => NEW_LINE}
      columns="sm:grid-cols-[minmax(0,1fr)_2rem]"
      error={form.messages.length === 0 ? errorAt("messages") : undefined}
    >
      {(row, change, at) => (
        <div className="flex min-w-0 flex-col gap-3">
          <TextareaField
            label={`Message ${at + 1}`}
            error={errorAt(`messages.${at}.text`) ?? errorAt(`messages.${at}`)}
            rows={1}
            controlClass="field-sizing-content min-h-9"
            placeholder="Where is my order?"
            value={row.text}
            onChange={({ target }) => change({ text: target.value })}
          />
          {form.channel === "voice" && (
            <VoiceFields row={row} change={change} errorAt={(field) => errorAt(`messages.${at}.${field}`)} />
          )}
        </div>
      )}
    </Rows>
  );
}

function VoiceFields({
  row,
  change,
  errorAt,
}: {
  row: LineRow;
  change: (changed: Partial<LineRow>) => void;
  errorAt: (field: string) => string | undefined;
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <SelectField
        label="Noise"
        error={errorAt("noise")}
        value={row.noise ?? "none"}
        onChange={(noise) => change({ noise: noise === "none" ? null : (noise as LineRow["noise"]) })}
        options={NOISES}
      />
      <NumberField
        label="Interrupts after (ms)"
        optional
        error={errorAt("interrupt_at_ms")}
        min={0}
        max={60_000}
        placeholder="Waits"
        value={row.interrupt_at_ms}
        onChange={(interrupt_at_ms) => change({ interrupt_at_ms })}
      />
      <TextField
        label="Keys pressed"
        optional
        error={errorAt("dtmf")}
        maxLength={32}
        placeholder="12#"
        value={row.dtmf}
        onChange={({ target }) => change({ dtmf: target.value })}
      />
    </div>
  );
}
