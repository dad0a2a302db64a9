import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { NumberField, SelectField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
import { Rows } from "../../../../ui/form/rows.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import type { TestDraft } from "./draft.ts";
import { type MockRow, NEW_MOCK, type TestForm } from "./form.ts";
import { ToolNameField } from "./tool-name-field.tsx";

const MOCKS_MAX = 50;
const DELAY_MAX_MS = 120_000;
const OUTCOMES = [
  { value: "result", label: "Result" },
  { value: "error", label: "Error" },
];
const UNMOCKED = [
  { value: "error", label: "Fails, and the model is told so" },
  { value: "real", label: "Is made" },
];

/** What tools answer, so that a test calls nothing outside. */
export function ToolsSection({ draft: { form, set, errorAt, errorIn } }: { draft: TestDraft }) {
  return (
    <Section
      title="Tools"
      description="What tools answer in the test. The first row that fits a call answers it. Built-in tools work as always."
    >
      <Rows
        label="Answers"
        item="answer"
        rows={form.tool_mocks}
        max={MOCKS_MAX}
        onChange={(tool_mocks) => set({ tool_mocks })}
        blank={() => NEW_MOCK}
        columns="sm:grid-cols-[minmax(0,1fr)_2rem]"
      >
        {(row, change, at) => {
          const path = `tool_mocks.${at}`;
          return (
            <MockFields
              row={row}
              change={change}
              errorAt={(field) => errorAt(`${path}.${field}`)}
              outcomeError={errorIn(`${path}.${row.outcome}`) ?? errorAt(path)}
            />
          );
        }}
      </Rows>
      <SelectField
        label="A call without an answer"
        error={errorAt("unmocked")}
        className="max-w-xs"
        value={form.unmocked}
        onChange={(unmocked) => set({ unmocked: unmocked as TestForm["unmocked"] })}
        options={UNMOCKED}
      />
    </Section>
  );
}

function MockFields({
  row,
  change,
  errorAt,
  outcomeError,
}: {
  row: MockRow;
  change: (changed: Partial<MockRow>) => void;
  errorAt: (field: string) => string | undefined;
  outcomeError: string | undefined;
}) {
  return (
    <div className="grid min-w-0 items-start gap-3 sm:grid-cols-[minmax(0,1fr)_8rem_8rem]">
      <ToolNameField value={row.tool} onChange={(tool) => change({ tool })} error={errorAt("tool")} />
      <SelectField
        label="Answers with"
        value={row.outcome}
        onChange={(outcome) => change({ outcome: outcome as MockRow["outcome"] })}
        options={OUTCOMES}
      />
      <NumberField
        label="After (ms)"
        optional
        error={errorAt("delay_ms")}
        min={0}
        max={DELAY_MAX_MS}
        placeholder="0"
        value={row.delay_ms}
        onChange={(delay_ms) => change({ delay_ms })}
      />
      <TextareaField
        label="Only with these arguments"
        optional
        hint="A JSON object; the call may have others."
        error={errorAt("when")}
        className="sm:col-span-3"
        rows={1}
        spellCheck={false}
        controlClass="field-sizing-content max-h-48 min-h-9 font-mono text-xs"
        placeholder={'{ "order_id": "A-1001" }'}
        value={row.when}
        onChange={({ target }) => change({ when: target.value })}
      />
      {row.outcome === "result" ? (
        <div className="flex flex-col gap-3 sm:col-span-3">
          <TextareaField
            label="Result"
            hint="JSON, or a text."
            error={outcomeError}
            rows={2}
            spellCheck={false}
            controlClass="field-sizing-content max-h-96 min-h-16 font-mono text-xs"
            placeholder={'{ "status": "on its way" }'}
            value={row.result}
            onChange={({ target }) => change({ result: target.value })}
          />
          <Checkbox
            checked={row.recorded}
            onChange={(recorded) => change({ recorded })}
            label="The model was told this before"
            hint="Otherwise it is the answer of the tool's server, which the tool may shorten for the model."
          />
        </div>
      ) : (
        <TextField
          label="Error"
          hint="What the model is told."
          error={outcomeError}
          className="sm:col-span-3"
          placeholder="The order system is down"
          value={row.error}
          onChange={({ target }) => change({ error: target.value })}
        />
      )}
    </div>
  );
}
