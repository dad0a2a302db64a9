import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Field } from "../../../../ui/form/field.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { libraryQuery } from "../../../tools/tools.ts";

/** The name by which models call a tool: one of the library's, of an MCP server's or a built-in one. */
export function ToolNameField({
  value,
  onChange,
  error,
}: {
  value: string;
  onChange: (tool: string) => void;
  error: string | undefined;
}) {
  const names = useId();
  const library = useQuery(libraryQuery).data?.items ?? [];
  return (
    <Field label="Tool" error={error}>
      {(control) => (
        <>
          <Input
            {...control}
            maxLength={200}
            list={names}
            className="font-mono text-[0.8125rem]"
            placeholder="look_up_order"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={names}>
            {library
              .filter(({ type }) => type !== "mcp")
              .map(({ id, name }) => (
                <option key={id} value={name} />
              ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
