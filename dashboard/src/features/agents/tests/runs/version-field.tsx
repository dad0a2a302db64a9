import { useQuery } from "@tanstack/react-query";
import { NumberField, SelectField } from "../../../../ui/form/fields.tsx";
import type { Option } from "../../../../ui/form/select.tsx";
import { type Agent, agentQuery } from "../../agents.ts";
import type { ChosenVersion } from "./chosen-version.ts";

/** Asks for a version of the agent. */
export function VersionField({
  agentId,
  value,
  onChange,
  error,
}: {
  agentId: string;
  value: ChosenVersion;
  onChange: (value: ChosenVersion) => void;
  error: string | undefined;
}) {
  const agent = useQuery(agentQuery(agentId)).data;
  const isNumber = value.which === "number";
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <SelectField
        label="Version"
        error={isNumber ? undefined : error}
        value={value.which}
        onChange={(which) => onChange({ ...value, which: which as ChosenVersion["which"] })}
        options={choicesFor(agent)}
      />
      {isNumber && (
        <NumberField
          label="Number of the version"
          error={error}
          required
          min={1}
          step={1}
          value={value.number}
          onChange={(number) => onChange({ ...value, number })}
        />
      )}
    </div>
  );
}

/** @param agent undefined until it is read */
function choicesFor(agent: Agent | undefined): Option[] {
  const versions = agent && { latest: agent.latest_version, published: agent.published_version };
  return [
    { value: "latest", label: "The latest", hint: versions && `version ${versions.latest}` },
    // An agent whose versions are published by hand may have none yet.
    ...(versions?.published === null
      ? []
      : [{ value: "published", label: "The published one", hint: versions && `version ${versions.published}` }]),
    { value: "number", label: "By number…" },
  ];
}
