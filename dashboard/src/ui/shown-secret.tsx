import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";

/** A secret that is shown once, to be copied. @param what named in the copy button's label @param children says what it is for */
export function ShownSecret({
  secret,
  what,
  onDone,
  children,
}: {
  secret: string;
  what: string;
  onDone: () => void;
  children?: ReactNode;
}) {
  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-center gap-2 rounded-lg border border-line bg-surface p-3">
        <code className="min-w-0 flex-1 font-mono text-xs tracking-tight break-all">{secret}</code>
        <CopyButton text={secret} what={what} words />
      </div>
      {children}
      <div className="flex justify-end">
        <Button variant="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
