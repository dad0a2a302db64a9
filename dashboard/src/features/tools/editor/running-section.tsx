import { Checkbox } from "../../../ui/form/checkbox.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import type { ToolDraft } from "./draft.ts";
import type { ToolForm } from "./form.ts";

const RUNS = [
  { value: "wait", label: "Wait for the result" },
  { value: "background", label: "Go on, and tell the result later" },
];
const INTERRUPTIONS = [
  { value: "continue", label: "The call goes on" },
  { value: "cancel", label: "The call is cancelled" },
];
const MS = 1_000;

/** How long a call may take, when it is repeated, and what the conversation does meanwhile. */
export function RunningSection({ draft: { form, set, errorAt } }: { draft: ToolDraft }) {
  const { type, timeout_ms: timeoutMs, method } = form;
  const isSafe = method === "GET" || method === "HEAD";
  return (
    <Section title="While it runs">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label="Time limit in seconds"
          hint="1 to 120, with all retries."
          error={errorAt("timeout_ms")}
          type="number"
          min={1}
          max={120}
          step="any"
          placeholder="20"
          value={timeoutMs == null ? "" : timeoutMs / MS}
          onChange={({ target: { value } }) =>
            set({ timeout_ms: value === "" ? null : Math.round(Number(value) * MS) })
          }
        />
        {type === "http" && (
          <TextField
            label="Retries"
            hint="After 429, 502, 503, 504, or a failed connection."
            error={errorAt("retries")}
            type="number"
            min={0}
            max={3}
            placeholder={isSafe ? "2" : "0"}
            value={form.retries ?? ""}
            onChange={({ target: { value } }) => set({ retries: value === "" ? null : Number(value) })}
          />
        )}
        <SelectField
          label="The conversation"
          error={errorAt("run")}
          value={form.run ?? "wait"}
          onChange={(run) => set({ run: run as NonNullable<ToolForm["run"]> })}
          options={RUNS}
        />
        <SelectField
          label="When the caller speaks"
          error={errorAt("interruption")}
          value={form.interruption ?? "continue"}
          onChange={(next) => set({ interruption: next as NonNullable<ToolForm["interruption"]> })}
          options={INTERRUPTIONS}
        />
      </div>
      {type === "http" && (
        <Checkbox
          checked={form.idempotent ?? false}
          onChange={(idempotent) => set({ idempotent })}
          label="The server honors Idempotency-Key"
          hint="Then a call is repeated after a crash. GET and HEAD always are."
        />
      )}
      {type === "client" && (
        <Checkbox
          checked={form.wait ?? true}
          onChange={(wait) => set({ wait })}
          label="Wait for the client's result"
          hint="Otherwise a call counts as done as soon as the client has it."
        />
      )}
    </Section>
  );
}
