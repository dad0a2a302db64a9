import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { LinesField, SelectField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { tellDone, tellFailure } from "../../../ui/overlay/toasts.tsx";
import { Notice } from "../../../ui/states.tsx";
import { TOOLS, type Tool, toolQuery } from "../tools.ts";
import type { ToolDraft } from "./draft.ts";
import type { ToolForm } from "./form.ts";

type McpTool = NonNullable<Tool["mcp_tools"]>[number];

const ON_CHANGE = [
  { value: "keep_if_schema_same", label: "Its parameters change" },
  { value: "disable", label: "Its parameters or its description change" },
];

/** Which of an MCP server's tools models can call. */
export function McpSection({ draft: { form, set, errorAt } }: { draft: ToolDraft }) {
  return (
    <Section title="Tools of the server" description="One that the server adds later is off until you accept it.">
      <LinesField
        label="Allowed tools"
        optional
        hint="Names at the server, one a line. If you enter none, all are allowed."
        error={errorAt("tools")}
        placeholder={"find_order\nbook_table"}
        value={form.tools ?? []}
        onChange={(tools) => set({ tools: tools.length === 0 ? null : tools })}
      />
      <SelectField
        label="Switch a tool off when"
        error={errorAt("on_change")}
        value={form.on_change ?? "keep_if_schema_same"}
        onChange={(next) => set({ on_change: next as NonNullable<ToolForm["on_change"]> })}
        options={ON_CHANGE}
      />
    </Section>
  );
}

const STATES: Readonly<Record<McpTool["state"], { label: string; tone: Tone }>> = {
  on: { label: "On", tone: "success" },
  changed: { label: "Changed, off", tone: "warning" },
  new: { label: "New, off", tone: "accent" },
  gone: { label: "Gone", tone: "neutral" },
};

/** What the server had when it was last asked, and a way to accept what it has changed since. */
export function McpTools({ tool }: { tool: Tool }) {
  const { mcp_tools: tools = [], problems = [] } = tool;
  return (
    <Section title="What the server offers" actions={<Accept tool={tool} />}>
      {problems.length > 0 && (
        <Notice tone="warning">
          <p className="font-medium">These tools of the server are left out:</p>
          <ul className="mt-1 list-disc pl-5">
            {problems.map(({ name, problem }) => (
              <li key={name} className="wrap-anywhere">
                <code className="font-mono text-[0.8125rem]">{name}</code>: {problem}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {tools.length === 0 ? (
        <p className="text-muted">Nothing that models can call.</p>
      ) : (
        <ul aria-label="Tools of the server" className="divide-y divide-line rounded-lg border border-line">
          {tools.map(({ name, description, state }) => (
            <li key={name} className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 py-3">
              <div className="min-w-0 flex-1 basis-56">
                <code className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{name}</code>
                {description && <p className="line-clamp-3 text-muted wrap-anywhere">{description}</p>}
              </div>
              <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Switches on everything that the server offers now. */
function Accept({ tool: { id, name, mcp_tools: tools = [] } }: { tool: Tool }) {
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => api.POST("/v1/public/tools/{tool_id}/accept", { params: { path: { tool_id: id } } }),
    onSuccess: async (accepted) => {
      client.setQueryData(toolQuery(id).queryKey, accepted);
      tellDone(`Accepted what “${name}” offers now`);
      await client.invalidateQueries({ queryKey: TOOLS, predicate: (query) => query.queryKey[1] !== "one" });
    },
    onError: tellFailure,
  });
  const isWaiting = tools.some(({ state }) => state !== "on");
  return (
    <Button
      size="small"
      variant={isWaiting ? "primary" : "secondary"}
      busy={accept.isPending}
      onClick={() => accept.mutate()}
    >
      {isWaiting ? "Accept changes" : "Read the tools again"}
    </Button>
  );
}
