import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { Notice } from "../states.tsx";
import { FormActions } from "./form-actions.tsx";

/** The form of a dialog: its fields, why it was refused, and its buttons. */
export function DialogForm({
  onSubmit,
  busy,
  disabled = false,
  failure,
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
  /** What is wrong beside the errors that its fields show. */
  failure?: ReactNode;
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
      {children}
      {failure && <Notice tone="danger">{failure}</Notice>}
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
