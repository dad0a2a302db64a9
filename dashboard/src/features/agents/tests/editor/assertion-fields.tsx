import type { ChangeEvent } from "react";
import { NumberField, SelectField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
import { AgentField } from "../../agent-field.tsx";
import type { AssertionRow } from "./assertion-rows.ts";
import { TestModelFields } from "./test-model-fields.tsx";
import { ToolNameField } from "./tool-name-field.tsx";

const ENDED_BY = [
  { value: "agent", label: "The agent" },
  { value: "user", label: "The user" },
  { value: "system", label: "Neither: silence, a fault or too many turns" },
];

const AREA = { rows: 1, controlClass: "field-sizing-content max-h-60 min-h-9" };
const CODE = { ...AREA, spellCheck: false, controlClass: `${AREA.controlClass} font-mono text-xs` };

/** The fields that an assertion of this type has, besides its turn. @param path of the assertion in the API */
export function AssertionFields({
  row,
  change,
  agentId,
  path,
  errorAt,
}: {
  row: AssertionRow;
  change: (changed: Partial<AssertionRow>) => void;
  agentId: string;
  path: string;
  errorAt: (path: string) => string | undefined;
}) {
  const at = (field: string) => errorAt(`${path}.${field}`);
  /** The properties of a field that edits a text of the row. */
  const text = (field: "value" | "document" | "field" | "equals" | "criterion" | "arguments") => ({
    error: at(field),
    value: row[field],
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => change({ [field]: target.value }),
  });
  switch (row.type) {
    case "equals":
    case "contains":
    case "not_contains":
      return <TextareaField label="Text" {...AREA} {...text("value")} placeholder="on its way" />;
    case "matches":
      return (
        <TextField
          label="Regular expression"
          hint="In RE2's syntax."
          {...text("value")}
          placeholder="A-\d{4}"
          controlClass="font-mono text-[0.8125rem]"
        />
      );
    case "tool_called":
    case "tool_not_called":
      return (
        <>
          <ToolNameField value={row.tool} onChange={(tool) => change({ tool })} error={at("tool")} />
          {row.type === "tool_called" && (
            <TextareaField
              label="With these arguments"
              optional
              hint="A JSON object; the call may have others."
              {...CODE}
              {...text("arguments")}
              placeholder={'{ "order_id": "A-1001" }'}
            />
          )}
        </>
      );
    case "handed_off_to":
      return <AgentField value={row.agent_id} onChange={(agent_id) => change({ agent_id })} error={at("agent_id")} />;
    case "ended_by":
      return (
        <SelectField
          label="Ended by"
          error={at("value")}
          value={row.value}
          onChange={(value) => change({ value })}
          options={ENDED_BY}
        />
      );
    case "language":
      return <TextField label="Language" hint="A tag, such as en or de-AT." {...text("value")} placeholder="en" />;
    case "latency_ms":
      return (
        <NumberField
          label="Milliseconds"
          error={at("max")}
          min={1}
          max={600_000}
          placeholder="2500"
          value={row.max}
          onChange={(max) => change({ max })}
        />
      );
    case "source_used":
      return <TextField label="Document" hint="Its name or ID." {...text("document")} placeholder="Shipping" />;
    case "analysis":
      return (
        <>
          <TextField
            label="Field"
            {...text("field")}
            placeholder="order_found"
            controlClass="font-mono text-[0.8125rem]"
          />
          <TextareaField label="Value" hint="JSON, or a text." {...CODE} {...text("equals")} placeholder="true" />
        </>
      );
    case "judge":
      return (
        <>
          <TextareaField
            label="Criterion"
            hint="A model says yes, no or unclear; unclear fails."
            {...AREA}
            {...text("criterion")}
            placeholder="The agent does not promise a date of delivery."
          />
          <TestModelFields
            label="Model that judges"
            agentId={agentId}
            value={row.model}
            onChange={(model) => change({ model })}
            path={`${path}.model`}
            errorAt={errorAt}
          />
        </>
      );
  }
}
