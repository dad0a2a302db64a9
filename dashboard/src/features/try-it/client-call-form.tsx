import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Textarea } from "../../ui/form/input.tsx";
import type { GivenResult } from "./live-calls.ts";

/** Asks the person for what the page of a customer would do: the result of a call of a client tool, or an error. */
export function ClientCallForm({ name, onGive }: { name: string; onGive: (given: GivenResult) => void }) {
  const [text, setText] = useState("");
  const isEmpty = text.trim() === "";
  return (
    <form
      aria-label={`Result of ${name}`}
      className="mt-2 flex w-104 max-w-full flex-col gap-2 rounded-xl border border-line bg-raised p-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) onGive({ result: text.trim() });
      }}
    >
      <Field label="Result" hint="Your page or app makes this call. Here, you give its result: a text or JSON.">
        {(control) => <Textarea {...control} rows={2} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="small" variant="primary" disabled={isEmpty}>
          Send result
        </Button>
        <Button type="button" size="small" disabled={isEmpty} onClick={() => onGive({ error: text.trim() })}>
          Send as error
        </Button>
      </div>
    </form>
  );
}
