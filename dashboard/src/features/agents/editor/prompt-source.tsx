import { useQuery } from "@tanstack/react-query";
import { FieldError } from "../../../ui/form/field.tsx";
import { SelectField } from "../../../ui/form/fields.tsx";
import { PromptEditor } from "../../prompts/prompt-field.tsx";
import { sharedPromptsQuery, versionsQuery } from "../../prompts/prompts.ts";
import { useSharedText, type WhichVersion } from "../../prompts/shared-text.ts";

export type Source = { kind: "own"; text: string } | { kind: "shared"; name: string; which: WhichVersion };

const OWN = "own";
/** Before a label, in the values of a choice that has versions too. */
const LABEL = "label:";

/** A text of the agent's own, or a prompt that several agents share, always its latest version, the one with a label, or a certain one. */
export function PromptSource({
  label,
  type,
  source,
  onText,
  onShared,
  errors,
}: {
  label: string;
  type: "main" | "analysis";
  source: Source;
  onText: (text: string) => void;
  onShared: (name: string, which: WhichVersion) => void;
  /** The API's messages about the text, and about a shared prompt's name and version. */
  errors: Readonly<Record<"text" | "name" | "version", string | undefined>>;
}) {
  const prompts = useQuery(sharedPromptsQuery);
  const shared = (prompts.data ?? []).filter(({ prompt_metadata }) => prompt_metadata.prompt_type === type);
  const chosen = source.kind === "shared" ? source.name : OWN;
  const pinned = source.kind === "shared" ? source : null;
  const content = useSharedText(pinned?.name ?? null, pinned?.which ?? {});
  const choose = (value: string) => (value === OWN ? onText(content ?? "") : onShared(value, {}));
  return (
    <>
      {(shared.length > 0 || source.kind === "shared") && (
        <div className="grid gap-4 sm:grid-cols-[1fr_12rem]">
          <SelectField
            label="Source"
            error={errors.name}
            value={chosen}
            onChange={choose}
            options={[
              { value: OWN, label: "This agent only" },
              ...named(
                shared.map(({ prompt_name }) => prompt_name),
                source,
              ).map((name) => ({
                value: name,
                label: `Shared prompt “${name}”`,
              })),
            ]}
          />
          {source.kind === "shared" && (
            <VersionField
              name={source.name}
              which={source.which}
              onVersion={(which) => onShared(source.name, which)}
              error={errors.version}
            />
          )}
        </div>
      )}
      {source.kind === "own" ? (
        <PromptEditor label={label} value={source.text} onChange={onText} />
      ) : (
        <p className="max-h-96 overflow-y-auto rounded-lg border border-line bg-surface p-4 whitespace-pre-wrap">
          {content}
        </p>
      )}
      <FieldError>{errors.text}</FieldError>
    </>
  );
}

function VersionField({
  name,
  which: { prompt_version: version, prompt_label: label },
  onVersion,
  error,
}: {
  name: string;
  which: WhichVersion;
  onVersion: (which: WhichVersion) => void;
  error: string | undefined;
}) {
  const versions = useQuery(versionsQuery(name)).data?.versions ?? [];
  const labels = versions.flatMap((each) => each.labels);
  return (
    <SelectField
      label="Version"
      error={error}
      value={label != null ? `${LABEL}${label}` : version == null ? "latest" : String(version)}
      onChange={(value) =>
        onVersion(
          value === "latest"
            ? {}
            : value.startsWith(LABEL)
              ? { prompt_label: value.slice(LABEL.length) }
              : { prompt_version: Number(value) },
        )
      }
      options={[
        { value: "latest", label: "Always the latest" },
        ...[...new Set(label == null ? labels : [label, ...labels])].map((each) => ({
          value: `${LABEL}${each}`,
          label: `Always ${each}`,
        })),
        ...versions.map(({ prompt_version }) => ({
          value: String(prompt_version),
          label: `Version ${prompt_version}`,
        })),
      ]}
    />
  );
}

/** The chosen prompt is among the options even when it is beyond those that were listed. */
function named(names: readonly string[], source: Source): string[] {
  return source.kind === "shared" && !names.includes(source.name) ? [source.name, ...names] : [...names];
}
