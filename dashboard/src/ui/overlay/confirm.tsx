import type { ReactNode } from "react";
import { sentenceOf } from "../../api/problem.ts";
import { Button } from "../button.tsx";
import { Dialog } from "./dialog.tsx";

/** The result of `useMutation` for a write without arguments. */
interface Write {
  mutate(): void;
  isPending: boolean;
  error: Error | null;
  reset(): void;
}

/**
 * Asks before something is destroyed.
 * @param title a question that names the thing, such as `Delete “Front desk”?`
 * @param action the button's words, such as `Delete agent`
 * @param impossible why it cannot be done now, and what to do first; undefined if it can
 */
export function Confirm({
  open,
  onClose,
  title,
  action,
  write,
  impossible,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  action: string;
  write: Write;
  impossible?: string | undefined;
  children: ReactNode;
}) {
  const close = () => {
    write.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      description={impossible ?? children}
      size="small"
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="danger"
            busy={write.isPending}
            disabled={impossible !== undefined}
            onClick={() => write.mutate()}
          >
            {action}
          </Button>
        </>
      }
    >
      {write.error && (
        <p role="alert" className="text-danger-ink">
          {sentenceOf(write.error)}
        </p>
      )}
    </Dialog>
  );
}
