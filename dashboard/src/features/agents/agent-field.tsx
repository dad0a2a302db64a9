import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SelectField } from "../../ui/form/fields.tsx";
import { agentNamesQuery } from "./agents.ts";

/** The field that asks for an agent: one of the newest thousand. @param value its ID, "" for none */
export function AgentField({
  value,
  onChange,
  hint,
  error,
  optional = false,
}: {
  value: string;
  onChange: (agentId: string) => void;
  hint?: string | undefined;
  error?: string | undefined;
  optional?: boolean;
}) {
  const names = useQuery(agentNamesQuery).data;
  const none = names?.byId.size === 0 && (
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
      hint={none || hint}
      error={error}
      optional={optional}
      value={value}
      onChange={onChange}
      placeholder="Choose an agent…"
      options={[...(names?.byId ?? [])].map(([id, name]) => ({ value: id, label: name }))}
    />
  );
}
