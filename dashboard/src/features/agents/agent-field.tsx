import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SelectField } from "../../ui/form/fields.tsx";
import { agentNamesQuery } from "./agents.ts";

/**
 * The field that asks for an agent: one of the newest thousand.
 * @param value its ID, "" for none
 * @param without what no agent means, if that may be chosen
 */
export function AgentField({
  value,
  onChange,
  hint,
  error,
  without,
}: {
  value: string;
  onChange: (agentId: string) => void;
  hint?: string | undefined;
  error?: string | undefined;
  without?: string | undefined;
}) {
  const names = useQuery(agentNamesQuery).data;
  const empty = names?.byId.size === 0 && (
    <>
      You have no agent yet.{" "}
      <Link to="/agents" search={{ new: true }} className="text-accent-ink underline">
        Create one
      </Link>{" "}
      first.
    </>
  );
  return (
    <SelectField
      label="Agent"
      hint={empty || hint}
      error={error}
      optional={without !== undefined}
      value={value}
      onChange={onChange}
      placeholder="Choose an agent…"
      options={[
        ...(without === undefined ? [] : [{ value: "", label: without }]),
        ...[...(names?.byId ?? [])].map(([id, name]) => ({ value: id, label: name })),
      ]}
    />
  );
}
