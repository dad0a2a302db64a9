import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { sentenceOf } from "../../api/problem.ts";
import { Button } from "../button.tsx";
import { Dialog } from "./dialog.tsx";
import { tellDone } from "./toasts.tsx";

/**
 * Asks before something is destroyed, and does it.
 * @param title a question that names the thing, such as `Delete “Front desk”?`
 * @param action the button's words, such as `Delete agent`
 * @param done what the page says afterwards, such as `Deleted “Front desk”`
 * @param then follows when the dialog is closed, such as leading away and reading again what has changed
 * @param impossible why it cannot be done now, and what to do first; undefined if it can
 * @param inWords the sentence for a failure; the API's by default
 */
export function Confirm<Result>({
  open,
  onClose,
  title,
  action,
  write,
  done,
  then,
  impossible,
  inWords = sentenceOf,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  action: string;
  write: () => Promise<Result>;
  done?: string;
  then?: (result: Result) => unknown;
  impossible?: string | undefined;
  inWords?: (error: Error) => ReactNode;
  children: ReactNode;
}) {
  const writing = useMutation({
    mutationFn: write,
    onSuccess: async (result) => {
      onClose();
      if (done !== undefined) tellDone(done);
      await then?.(result);
    },
  });
  const close = () => {
    writing.reset();
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
            busy={writing.isPending}
            disabled={impossible !== undefined}
            onClick={() => writing.mutate()}
          >
            {action}
          </Button>
        </>
      }
    >
      {writing.error && (
        <p role="alert" className="text-danger-ink">
          {inWords(writing.error)}
        </p>
      )}
    </Dialog>
  );
}
