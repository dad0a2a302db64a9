import { Plus } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import type { ToolDraft } from "../draft.ts";
import { NEW_PARAMETER, namesInPath, type ParameterRow } from "../form.ts";
import { ParameterFields } from "./parameter-fields.tsx";

/** More than that, the API refuses. */
const PARAMETERS_MAX = 64;

/** The values that a call has, and where each comes from. */
export function ParametersSection({ draft: { form, set, errorAt, errorIn } }: { draft: ToolDraft }) {
  const { parameters, type, url, method } = form;
  const setAll = (next: readonly ParameterRow[]) => set({ parameters: next });
  const add = (row: Partial<ParameterRow>) => setAll([...parameters, { ...NEW_PARAMETER, ...row }]);
  const known = parameters.filter((row) => row.in === "path").map(({ name }) => name.trim());
  const missing = type === "http" ? namesInPath(url ?? "").filter((name) => !known.includes(name)) : [];
  const usual = type !== "http" ? null : method === "GET" || method === "HEAD" ? "query" : "body";
  return (
    <Section
      title="Parameters"
      description="The model fills in only those whose value comes from the model. It does not see the others."
    >
      <FieldError>{errorAt("parameters")}</FieldError>
      {parameters.map((row, at) => (
        <ParameterFields
          key={at}
          at={at}
          row={row}
          isHttp={type === "http"}
          onChange={(changed) => setAll(parameters.with(at, { ...row, ...changed }))}
          onRemove={() => setAll(parameters.toSpliced(at, 1))}
          errorAt={(field) => errorAt(`parameters.${at}.${field}`)}
          errorIn={(field) => errorIn(`parameters.${at}.${field}`)}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        {missing.map((name) => (
          <Button key={name} variant="primary" size="small" onClick={() => add({ name, in: "path" })}>
            <Plus aria-hidden /> Add <code className="font-mono">{name}</code> of the URL
          </Button>
        ))}
        <Button size="small" disabled={parameters.length >= PARAMETERS_MAX} onClick={() => add({ in: usual })}>
          <Plus aria-hidden /> Add parameter
        </Button>
      </div>
    </Section>
  );
}
