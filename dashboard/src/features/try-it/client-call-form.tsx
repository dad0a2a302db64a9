import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextareaField } from "../../ui/form/fields.tsx";
import type { GivenResult } from "./live-calls.ts";

/** A call whose result the person is asked for. */
export interface AskedResult {
  /** How long the agent waits. */
  timeoutMs: number;
  onGive(given: GivenResult): void;
}

/** Asks the person for what the page of a customer would do: the result of a call of a client tool, or an error. */
export function ClientCallForm({ name, asked }: { name: string; asked: AskedResult }) {
  const [text, setText] = useState("");
  const isEmpty = text.trim() === "";
  return (
    <form
      aria-label={`Result of ${name}`}
      className="mt-2 flex w-104 max-w-full flex-col gap-2 rounded-xl border border-line bg-raised p-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) asked.onGive({ result: text.trim() });
      }}
    >
      <TextareaField
        label="Result"
        hint={`Your page or app makes this call. Here, you give its result, a text or JSON, within ${asked.timeoutMs / 1_000} s.`}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="small" variant="primary" disabled={isEmpty}>
          Send result
        </Button>
        <Button type="button" size="small" disabled={isEmpty} onClick={() => asked.onGive({ error: text.trim() })}>
          Send as error
        </Button>
      </div>
    </form>
  );
}
