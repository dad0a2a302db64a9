import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { labelOf } from "../../../api/field-names.ts";
import { numberOf } from "../../../ui/numbers.ts";
import { libraryQuery } from "../../tools/tools.ts";
import { agentNamesQuery, nameOfAgent } from "../agents.ts";
import { KINDS, readNotation } from "../editor/notation.ts";
import { KnowledgeValue } from "./knowledge-value.tsx";

/** The value of a field in words: each part by its label, and what it refers to by its name. @param field such as `handoffs` or `llm.params` */
export function ReadableValue({ field, value }: { field: string; value: unknown }): ReactNode {
  // A built-in tool is off without a value, and has one of `true` without settings.
  if (/^tools\.[^.]+$/.test(field) && (value === true || !value)) return value ? "On" : "Off";
  if (value === null || value === undefined || isEmpty(value)) return "Nothing";
  if (field === "knowledge" && Array.isArray(value)) return <KnowledgeValue uses={value} />;
  if (field.startsWith("call_analysis_schema.") && typeof value === "string") return typeInWords(value);
  const [name = "", ...ancestors] = field.split(".").reverse();
  if (ancestors.some(hasOwnNames) && typeof value !== "object") return String(value);
  if (name === "agent_id") return <AgentNames ids={[String(value)]} />;
  if (name === "tool_id") return <ToolName toolId={String(value)} />;
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") return name.endsWith("_ms") ? `${numberOf(value)} ms` : numberOf(value);
  if (typeof value !== "object") return String(value);
  if (!Array.isArray(value)) return <Parts field={field} value={value} />;
  if (name === "handed_off_to") return <AgentNames ids={value} />;
  if (value.every((item) => typeof item !== "object")) return value.join(", ");
  return (
    <ul className="flex flex-col gap-2">
      {value.map((item, at) => (
        <li key={at} className="border-line not-first:border-t not-first:pt-2">
          <ReadableValue field={field} value={item} />
        </li>
      ))}
    </ul>
  );
}

/** Whether what is in a field has names that an owner has given, which stay as they are. */
function hasOwnNames(name: string): boolean {
  return ["call_analysis_schema", "analysis", "headers", "properties", "arguments"].includes(name);
}

function Parts({ field, value }: { field: string; value: object }) {
  if (field.startsWith("call_analysis_schema.") && "type" in value) return typeInWords(value.type);
  const isOwn = field.split(".").some(hasOwnNames);
  const parts = Object.entries(value).filter(
    ([name, part]) => isOwn || (name !== "id" && part !== null && !isEmpty(part)),
  );
  return (
    <dl className="flex flex-col gap-0.5">
      {parts.map(([name, part]) => (
        <div key={name} className="flex flex-wrap gap-x-2">
          <dt className="text-muted">{isOwn ? name : labelOf(name)}:</dt>
          <dd dir="auto" className="min-w-0 wrap-anywhere whitespace-pre-wrap">
            <ReadableValue field={`${field}.${name}`} value={part} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ToolName({ toolId }: { toolId: string }) {
  const tools = useQuery(libraryQuery).data;
  const name = tools?.items.find(({ id }) => id === toolId)?.name;
  return <span title={toolId}>{name ?? (tools?.areAll ? "Deleted tool" : toolId)}</span>;
}

function AgentNames({ ids }: { ids: readonly string[] }) {
  const names = useQuery(agentNamesQuery).data;
  return ids.map((id) => nameOfAgent(names, id)).join(", ");
}

function typeInWords(notation: unknown): string {
  const { kind, detail, isOptional } = readNotation(String(notation));
  const label = kind === "other" ? detail : (KINDS.find(({ value }) => value === kind)?.label ?? kind);
  return [label, kind === "choice" && ` of ${detail}`, isOptional && ", optional"].filter(Boolean).join("");
}

function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}
