import { Checkbox } from "../../../ui/form/checkbox.tsx";
import { LinesField, TextField } from "../../../ui/form/fields.tsx";
import { Rows } from "../../../ui/form/rows.tsx";
import { Section } from "../../../ui/form/section.tsx";
import type { ToolDraft } from "./draft.ts";
import type { ToolForm } from "./form.ts";

type Result = NonNullable<ToolForm["result"]>;

/** What the model sees of the answer, and what variables take from it. */
export function AnswerSection({ draft: { form, set, errorAt } }: { draft: ToolDraft }) {
  const { keep = [], hide = false } = form.result ?? {};
  const change = (changed: Partial<Result>) => {
    const next = { keep: keep ?? [], hide: hide ?? false, ...changed };
    set({ result: next.keep?.length === 0 && !next.hide ? null : next });
  };
  return (
    <Section title="Answer" description="Of a JSON answer, the model can see a part, and variables can take values.">
      <Checkbox
        checked={hide ?? false}
        onChange={(next) => change({ hide: next })}
        label="Hide the answer from the model"
        hint="It learns only whether the call succeeded."
      />
      {!hide && (
        <LinesField
          label="Keep only"
          optional
          hint="JSON pointers, one a line. If you enter none, the model sees everything."
          error={errorAt("result.keep")}
          placeholder={"/status\n/delivery/date"}
          value={keep ?? []}
          onChange={(next) => change({ keep: next })}
        />
      )}
      <Assignments rows={form.assignments ?? []} onChange={(assignments) => set({ assignments })} errorAt={errorAt} />
    </Section>
  );
}

type Assigned = NonNullable<ToolForm["assignments"]>;

function Assignments({
  rows,
  onChange,
  errorAt,
}: {
  rows: Assigned;
  onChange: (rows: Assigned) => void;
  errorAt: (path: string) => string | undefined;
}) {
  return (
    <Rows
      label="Variables that take values"
      item="assignment"
      rows={rows}
      onChange={onChange}
      blank={() => ({ variable: "", pointer: "" })}
      columns="sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2rem]"
    >
      {({ variable, pointer }, change, at) => (
        <>
          <TextField
            label="Variable"
            error={errorAt(`assignments.${at}.variable`)}
            maxLength={100}
            controlClass="font-mono text-[0.8125rem]"
            placeholder="order_status"
            value={variable}
            onChange={(event) => change({ variable: event.target.value })}
          />
          <TextField
            label="Pointer"
            error={errorAt(`assignments.${at}.pointer`)}
            maxLength={500}
            controlClass="font-mono text-[0.8125rem]"
            placeholder="/status"
            value={pointer}
            onChange={(event) => change({ pointer: event.target.value })}
          />
        </>
      )}
    </Rows>
  );
}
