import { CircleAlert, CircleCheck, X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { Button } from "../button.tsx";

export interface Toast {
  id: number;
  tone: "success" | "danger";
  text: string;
}

const SHOWN_MS = 5_000;
/** Failures stay longer, because they must be read. */
const FAILURE_SHOWN_MS = 12_000;

interface ToastCornerProps {
  shown: readonly Toast[];
  onGone(id: number): void;
}

export function ToastCorner({ shown, onGone }: ToastCornerProps) {
  return (
    <Radix.Provider>
      {shown.map(({ id, tone, text }) => (
        <Radix.Root
          key={id}
          duration={tone === "danger" ? FAILURE_SHOWN_MS : SHOWN_MS}
          onOpenChange={(open) => open || onGone(id)}
          className="flex items-start gap-2.5 rounded-lg border border-line bg-raised py-2.5 pr-2 pl-3.5 shadow-lg"
        >
          {tone === "danger" ? (
            <CircleAlert className="mt-1 size-4 shrink-0 text-danger-ink" aria-hidden />
          ) : (
            <CircleCheck className="mt-1 size-4 shrink-0 text-success-ink" aria-hidden />
          )}
          <Radix.Description className="min-w-0 flex-1 py-0.5 break-words">{text}</Radix.Description>
          <Radix.Close asChild>
            <Button variant="ghost" size="icon" aria-label="Dismiss" className="-my-0.5">
              <X aria-hidden />
            </Button>
          </Radix.Close>
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2" />
    </Radix.Provider>
  );
}
