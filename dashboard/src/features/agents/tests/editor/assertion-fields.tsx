import type { ReactNode } from "react";
import { type Control, Field } from "../../../../ui/form/field.tsx";
import { Input, Textarea } from "../../../../ui/form/input.tsx";
import { NumberInput } from "../../../../ui/form/number-input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { AgentField } from "../../agent-field.tsx";
import type { AssertionRow } from "./assertion-rows.ts";
import { TestModelFields } from "./test-model-fields.tsx";
import { ToolNameField } from "./tool-name-field.tsx";

const ENDED_BY = [
  { value: "agent", label: "The agent" },
  { value: "user", label: "The user" },
  { value: "system", label: "Neither: silence, a fault or too many turns" },
];

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
  const text = (field: "value" | "document" | "field", props: { placeholder: string; className?: string }) => {
    return (control: Control): ReactNode => (
      <Input {...control} {...props} value={row[field]} onChange={({ target }) => change({ [field]: target.value })} />
    );
  };
  const area = (
    field: "value" | "equals" | "criterion" | "arguments",
    props: { placeholder: string; isCode?: true },
  ) => {
    const { isCode, ...shown } = props;
    return (control: Control): ReactNode => (
      <Textarea
        {...control}
        {...shown}
        rows={1}
        spellCheck={!isCode}
        className={`field-sizing-content max-h-60 min-h-9 ${isCode ? "font-mono text-xs" : ""}`}
        value={row[field]}
        onChange={({ target }) => change({ [field]: target.value })}
      />
    );
  };
  switch (row.type) {
    case "equals":
    case "contains":
    case "not_contains":
      return (
        <Field label="Text" error={at("value")}>
          {area("value", { placeholder: "on its way" })}
        </Field>
      );
    case "matches":
      return (
        <Field label="Regular expression" hint="In RE2's syntax." error={at("value")}>
          {text("value", { placeholder: "A-\\d{4}", className: "font-mono text-[0.8125rem]" })}
        </Field>
      );
    case "tool_called":
    case "tool_not_called":
      return (
        <>
          <ToolNameField value={row.tool} onChange={(tool) => change({ tool })} error={at("tool")} />
          {row.type === "tool_called" && (
            <Field
              label="With these arguments"
              optional
              hint="A JSON object; the call may have others."
              error={at("arguments")}
            >
              {area("arguments", { placeholder: '{ "order_id": "A-1001" }', isCode: true })}
            </Field>
          )}
        </>
      );
    case "handed_off_to":
      return <AgentField value={row.agent_id} onChange={(agent_id) => change({ agent_id })} error={at("agent_id")} />;
    case "ended_by":
      return (
        <Field label="Ended by" error={at("value")}>
          {(control) => (
            <Select {...control} value={row.value} onChange={(value) => change({ value })} options={ENDED_BY} />
          )}
        </Field>
      );
    case "language":
      return (
        <Field label="Language" hint="A tag, such as en or de-AT." error={at("value")}>
          {text("value", { placeholder: "en" })}
        </Field>
      );
    case "latency_ms":
      return (
        <Field label="Milliseconds" error={at("max")}>
          {(control) => (
            <NumberInput
              {...control}
              min={1}
              max={600_000}
              placeholder="2500"
              value={row.max}
              onChange={(max) => change({ max })}
            />
          )}
        </Field>
      );
    case "source_used":
      return (
        <Field label="Document" hint="Its name or ID." error={at("document")}>
          {text("document", { placeholder: "Shipping" })}
        </Field>
      );
    case "analysis":
      return (
        <>
          <Field label="Field" error={at("field")}>
            {text("field", { placeholder: "order_found", className: "font-mono text-[0.8125rem]" })}
          </Field>
          <Field label="Value" hint="JSON, or a text." error={at("equals")}>
            {area("equals", { placeholder: "true", isCode: true })}
          </Field>
        </>
      );
    case "judge":
      return (
        <>
          <Field label="Criterion" hint="A model says yes, no or unclear; unclear fails." error={at("criterion")}>
            {area("criterion", { placeholder: "The agent does not promise a date of delivery." })}
          </Field>
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
