import { useQuery } from "@tanstack/react-query";
import { Field } from "../../ui/form/field.tsx";
import { Select } from "../../ui/form/select.tsx";
import { agentNamesQuery } from "./agents.ts";

/** The field that asks for an agent: one of the newest thousand. @param value its ID, "" for none */
export function AgentField({
  value,
  onChange,
  hint,
  error,
}: {
  value: string;
  onChange: (agentId: string) => void;
  hint?: string | undefined;
  error?: string | undefined;
}) {
  const names = useQuery(agentNamesQuery).data;
  return (
    <Field label="Agent" hint={hint} error={error}>
      {(control) => (
        <Select
          {...control}
          value={value}
          onChange={onChange}
          placeholder="Choose an agent…"
          options={[...(names?.byId ?? [])].map(([id, name]) => ({ value: id, label: name }))}
        />
      )}
    </Field>
  );
}
