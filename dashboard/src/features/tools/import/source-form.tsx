import { type FormEvent, useState } from "react";
import type { Schema } from "../../../api/client.ts";
import { fieldsOf } from "../../../api/problem.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { Input, Textarea } from "../../../ui/form/input.tsx";
import { Refusable, Refusal } from "../../../ui/form/refusal.tsx";
import { Segments } from "../../../ui/segments.tsx";

const KINDS = [
  { value: "url", label: "OpenAPI address" },
  { value: "document", label: "OpenAPI document" },
  { value: "curl", label: "curl command" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

const HINTS: Readonly<Record<Kind, string>> = {
  url: "An OpenAPI document of version 3.0 or 3.1, in JSON or YAML.",
  document: "Version 3.0 or 3.1, in JSON or YAML, at most 4 MiB.",
  curl: "Tokens and passwords in it are not kept: you store them as secrets.",
};
const CURL = `curl https://api.shop.example/orders \\
  -H 'Authorization: Bearer …' --json '{ "product": "lamp", "count": 2 }'`;

/** Asks what to make tools of. @param read the result of `useMutation` for reading it */
export function SourceForm({
  read,
}: {
  read: { mutate(source: Schema["ImportToolsRequest"]): void; isPending: boolean; error: Error | null; reset(): void };
}) {
  const [kind, setKind] = useState<Kind>("url");
  const [texts, setTexts] = useState<Readonly<Record<Kind, string>>>({ url: "", document: "", curl: "" });
  const error = fieldsOf(read.error).get(kind);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    read.mutate({ [kind]: texts[kind].trim() });
  };
  const set = (text: string) => setTexts({ ...texts, [kind]: text });
  return (
    <form onSubmit={submit} className="flex max-w-3xl flex-col gap-4">
      <Segments
        label="What to import"
        options={KINDS}
        value={kind}
        onChange={(next) => {
          read.reset();
          setKind(next);
        }}
      />
      <Refusable>
        <Field label={KINDS.find(({ value }) => value === kind)?.label} hint={HINTS[kind]} error={error}>
          {(control) =>
            kind === "url" ? (
              <Input
                {...control}
                required
                inputMode="url"
                maxLength={2_048}
                placeholder="https://api.shop.example/openapi.json"
                value={texts.url}
                onChange={(event) => set(event.target.value)}
              />
            ) : (
              <Textarea
                {...control}
                required
                spellCheck={false}
                className="max-h-96 min-h-40 font-mono text-xs"
                placeholder={kind === "curl" ? CURL : "openapi: 3.1.0"}
                value={texts[kind]}
                onChange={(event) => set(event.target.value)}
              />
            )
          }
        </Field>
        <Refusal error={read.error} />
      </Refusable>
      <div>
        <Button type="submit" variant="primary" busy={read.isPending}>
          Show the tools
        </Button>
      </div>
    </form>
  );
}
