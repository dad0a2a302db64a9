import { NumberField, SelectField } from "../../../../ui/form/fields.tsx";
import { Rows } from "../../../../ui/form/rows.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { AssertionFields } from "./assertion-fields.tsx";
import { ASSERTIONS, type AssertionRow, type AssertionType, assertionRowOf, fieldsOfType } from "./assertion-rows.ts";
import type { TestDraft } from "./draft.ts";

const ASSERTIONS_MAX = 50;
const TYPES = ASSERTIONS.map(({ type, label }) => ({ value: type, label }));

/** What must be true after the conversation. */
export function AssertionsSection({ draft, agentId }: { draft: TestDraft; agentId: string }) {
  const { form, set, errorAt } = draft;
  return (
    <Section
      title="Expectations"
      description="What must be true of a turn, which is a message of the user and the reply to it, or of the whole conversation."
    >
      <Rows
        label="Expected"
        item="expectation"
        rows={form.assertions}
        max={ASSERTIONS_MAX}
        onChange={(assertions) => set({ assertions })}
        blank={(): AssertionRow => assertionRowOf({ type: "contains" })}
        columns="sm:grid-cols-[12rem_minmax(0,1fr)_5.5rem_2rem]"
        error={form.assertions.length === 0 ? errorAt("assertions") : undefined}
      >
        {(row, change, at) => {
          const path = `assertions.${at}`;
          return (
            <>
              <SelectField
                label="Check"
                error={errorAt(`${path}.type`)}
                value={row.type}
                onChange={(type) => change(ofType(type as AssertionType, row))}
                options={TYPES}
              />
              <div className="flex min-w-0 flex-col gap-3">
                <AssertionFields row={row} change={change} agentId={agentId} path={path} errorAt={errorAt} />
              </div>
              {fieldsOfType(row.type).includes("turn") ? (
                <NumberField
                  label="Turn"
                  error={errorAt(`${path}.turn`)}
                  min={1}
                  placeholder="Any"
                  value={row.turn}
                  onChange={(turn) => change({ turn })}
                />
              ) : (
                <span className="max-sm:hidden" />
              )}
            </>
          );
        }}
      </Rows>
    </Section>
  );
}

/** The value of `ended_by` is one of a few words, and a text is not one of them. */
function ofType(type: AssertionType, before: AssertionRow): Partial<AssertionRow> {
  return { type, ...([type, before.type].includes("ended_by") && { value: "" }) };
}
