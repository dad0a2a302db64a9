import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { FormActions } from "./form-actions.tsx";
import { Refusable, Refusal } from "./refusal.tsx";

/** The form of a dialog: its fields, why it was refused, and its buttons. */
export function DialogForm({
  onSubmit,
  busy,
  disabled = false,
  error = null,
  action,
  onCancel,
  other,
  autoComplete,
  children,
}: {
  onSubmit: () => void;
  /** Whether it is being sent. */
  busy: boolean;
  disabled?: boolean;
  /** Why it was refused, of which its fields show what concerns them. */
  error?: Error | null;
  /** The words of the button that sends it. */
  action: ReactNode;
  onCancel?: () => void;
  /** Another button before that one. */
  other?: ReactNode;
  autoComplete?: "off";
  children: ReactNode;
}) {
  return (
    <form
      className="flex flex-col gap-5"
      autoComplete={autoComplete}
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog may be of a page that is itself a form.
        event.stopPropagation();
        onSubmit();
      }}
    >
      <Refusable>
        {children}
        <Refusal error={error} />
      </Refusable>
      <FormActions>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        {other}
        <Button type="submit" variant="primary" busy={busy} disabled={disabled}>
          {action}
        </Button>
      </FormActions>
    </form>
  );
}
