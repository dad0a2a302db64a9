import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { AuthFields } from "./auth-fields.tsx";
import type { ToolDraft } from "./draft.ts";
import type { ToolForm } from "./form.ts";
import { HeaderFields } from "./header-fields.tsx";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => ({ value: method, label: method }));

/** Where requests go, and what proves who sends them. */
export function RequestSection({ draft }: { draft: ToolDraft }) {
  const { form, set, errorAt } = draft;
  const isHttp = form.type === "http";
  return (
    <Section title={isHttp ? "Request" : "Server"}>
      <div className="grid gap-4 sm:grid-cols-[8rem_minmax(0,1fr)]">
        {isHttp && (
          <SelectField
            label="Method"
            error={errorAt("method")}
            value={form.method ?? "GET"}
            onChange={(method) => set({ method: method as NonNullable<ToolForm["method"]> })}
            options={METHODS}
          />
        )}
        <TextField
          label="URL"
          className={isHttp ? "" : "sm:col-span-2"}
          hint={
            isHttp ? (
              <>
                Begins with https://. <code className="font-mono">{"{order_id}"}</code> is a parameter in the path,{" "}
                <code className="font-mono">{"{{region}}"}</code> a variable of the conversation.
              </>
            ) : (
              "Address of the MCP server, which begins with https://. Saving connects to it and reads its tools."
            )
          }
          error={errorAt("url")}
          inputMode="url"
          maxLength={2_048}
          controlClass="font-mono text-[0.8125rem]"
          placeholder={isHttp ? "https://api.shop.example/orders/{order_id}" : "https://mcp.shop.example/mcp"}
          value={form.url ?? ""}
          onChange={(event) => set({ url: event.target.value })}
        />
      </div>
      <AuthFields auth={form.auth ?? null} onChange={(auth) => set({ auth })} errorAt={errorAt} />
      <HeaderFields rows={form.headers} onChange={(headers) => set({ headers })} errorIn={draft.errorIn} />
    </Section>
  );
}
