import { useMutation } from "@tanstack/react-query";
import { Play, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "../../../api/client.ts";
import { sentenceOf } from "../../../api/problem.ts";
import { Button } from "../../../ui/button.tsx";
import { SelectField, TextareaField, TextField } from "../../../ui/form/fields.tsx";
import { Segments } from "../../../ui/segments.tsx";
import { Notice } from "../../../ui/states.tsx";
import { objectIn } from "../editor/json-text.ts";
import type { Tool } from "../tools.ts";
import { ArgumentFields } from "./argument-fields.tsx";
import { argumentsOf, typedArguments, typedVariables, variablesOf } from "./given.ts";
import { Tried } from "./tried.tsx";

/** The longest that a tool's call may take, and a moment more. */
const TRY_WITHIN_MS = 130_000;
const WAYS = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
] as const;

/** Calls the tool as a conversation would, with arguments and variables that are typed here. */
export function TryTool({ tool, isDirty, onClose }: { tool: Tool; isDirty: boolean; onClose: () => void }) {
  const offered = (tool.mcp_tools ?? []).filter(({ state }) => state === "on").map(({ name }) => name);
  const [chosen, setChosen] = useState("");
  const mcpTool = offered.includes(chosen) ? chosen : (offered[0] ?? "");
  const [way, setWay] = useState<"form" | "json">("form");
  const [values, setValues] = useState<Record<string, string>>({});
  const [json, setJson] = useState("{}");
  const [variables, setVariables] = useState<Record<string, string>>({});
  const wanted = argumentsOf(tool, mcpTool);
  const given = way === "form" ? typedArguments(wanted, values) : objectIn(json);
  const names = variablesOf(tool);
  const call = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/tools/{tool_id}/try", {
        params: { path: { tool_id: tool.id } },
        body: {
          arguments: given as Record<string, never>,
          variables: typedVariables(variables) as Record<string, never>,
          ...(tool.type === "mcp" && { tool: mcpTool }),
        },
        fetch: (request) => fetch(request, { signal: AbortSignal.timeout(TRY_WITHIN_MS) }),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (given) call.mutate();
  };
  return (
    <>
      <div className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-4">
        <h2 className="font-semibold">Try the tool</h2>
        <Button variant="ghost" size="icon" className="ml-auto" aria-label="Close Try" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-6 overflow-y-auto p-4">
        {isDirty && <Notice tone="warning">The call uses the tool as it is saved, without your changes.</Notice>}
        <form onSubmit={submit} className="flex flex-col gap-4">
          {tool.type === "mcp" && (
            <SelectField
              label="Tool of the server"
              value={mcpTool}
              onChange={setChosen}
              placeholder="None is on"
              options={offered.map((name) => ({ value: name, label: name }))}
            />
          )}
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h3 className="font-medium">Arguments, as the model gives them</h3>
            <Segments
              label="How to enter arguments"
              options={WAYS}
              value={way}
              onChange={(next) => {
                if (next === "json") setJson(JSON.stringify(typedArguments(wanted, values), null, 2));
                setWay(next);
              }}
            />
          </div>
          {way === "form" ? (
            wanted.length === 0 ? (
              <p className="text-muted">The model gives none.</p>
            ) : (
              <ArgumentFields of={wanted} values={values} onChange={setValues} />
            )
          ) : (
            <TextareaField
              label={<span className="sr-only">Arguments as JSON</span>}
              error={given ? undefined : "This is not a JSON object."}
              spellCheck={false}
              controlClass="field-sizing-content max-h-80 min-h-20 font-mono text-xs"
              value={json}
              onChange={(event) => setJson(event.target.value)}
            />
          )}
          {names.length > 0 && (
            <>
              <h3 className="font-medium">Variables of the conversation</h3>
              {names.map((name) => (
                <TextField
                  key={name}
                  label={<code className="font-mono text-[0.8125rem]">{name}</code>}
                  placeholder="A text, or JSON such as a list"
                  value={variables[name] ?? ""}
                  onChange={(event) => setVariables({ ...variables, [name]: event.target.value })}
                />
              ))}
            </>
          )}
          <Button
            type="submit"
            variant="primary"
            busy={call.isPending}
            disabled={!given || (tool.type === "mcp" && mcpTool === "")}
          >
            {!call.isPending && <Play aria-hidden />} Call the tool
          </Button>
          <p className="text-center text-xs text-muted">This makes a real call.</p>
        </form>
        {call.error && <Notice tone="danger">{sentenceOf(call.error)}</Notice>}
        {call.data && !call.isPending && <Tried result={call.data} />}
      </div>
    </>
  );
}
