import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { Badge } from "../../../../ui/badge.tsx";
import { Button } from "../../../../ui/button.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { labelOfType, libraryQuery, type Tool } from "../../../tools/tools.ts";
import type { AgentDraft } from "../draft.ts";

/** More than that, the API refuses. */
const TOOLS_MAX = 32;

/** The tools of the library that the agent's model can call. */
export function CustomTools({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  const library = useQuery(libraryQuery).data;
  const chosen = values.custom_tools ?? [];
  const byId = new Map(library?.items.map((tool) => [tool.id, tool]));
  const rest = library?.items.filter(({ id }) => chosen.every(({ tool_id }) => tool_id !== id)) ?? [];
  return (
    <Section
      title="Your tools"
      description="Requests that the model can make while it talks."
      actions={
        <Button asChild size="small">
          <Link to="/tools" search={{}}>
            All tools
          </Link>
        </Button>
      }
    >
      <FieldError>{errorAt("custom_tools")}</FieldError>
      {chosen.length > 0 && (
        <ul aria-label="Tools of this agent" className="flex flex-col gap-2">
          {chosen.map(({ tool_id: id }, at) => (
            <ChosenTool
              key={id}
              id={id}
              tool={byId.get(id)}
              isMissing={library?.areAll === true && !byId.has(id)}
              error={errorAt(`custom_tools.${at}.tool_id`)}
              onRemove={() => set({ custom_tools: chosen.toSpliced(at, 1) })}
            />
          ))}
        </ul>
      )}
      {library?.items.length === 0 ? (
        <p className="text-muted">
          You have no tool yet.{" "}
          <Link to="/tools" search={{ new: true }} className="text-accent-ink underline">
            Create one
          </Link>{" "}
          first.
        </p>
      ) : (
        <Select
          aria-label="Add a tool"
          className="sm:w-80"
          value=""
          disabled={rest.length === 0 || chosen.length >= TOOLS_MAX}
          placeholder={
            chosen.length >= TOOLS_MAX
              ? `An agent has at most ${TOOLS_MAX} tools`
              : library && rest.length === 0
                ? "The agent has all of your tools"
                : "Add a tool…"
          }
          onChange={(id) => set({ custom_tools: [...chosen, { tool_id: id }] })}
          options={rest.map(({ id, name, type }) => ({ value: id, label: name, hint: labelOfType(type) }))}
        />
      )}
    </Section>
  );
}

function ChosenTool({
  id,
  tool,
  isMissing,
  error,
  onRemove,
}: {
  id: string;
  tool: Tool | undefined;
  isMissing: boolean;
  error: string | undefined;
  onRemove: () => void;
}) {
  const name = tool?.name ?? (isMissing ? "Deleted tool" : id);
  return (
    <li className="rounded-lg border border-line px-4 py-3">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="flex min-w-0 items-center gap-2">
            <Link
              to="/tools/$toolId"
              params={{ toolId: id }}
              search={{}}
              className="truncate font-mono text-[0.8125rem] font-medium hover:underline"
            >
              {name}
            </Link>
            {tool && <Badge>{labelOfType(tool.type)}</Badge>}
          </p>
          {tool?.description && <p className="truncate text-muted">{tool.description}</p>}
        </div>
        <Button variant="ghost" size="icon" aria-label={`Remove ${name}`} onClick={onRemove}>
          <X aria-hidden />
        </Button>
      </div>
      <FieldError className="mt-1.5">{error}</FieldError>
    </li>
  );
}
