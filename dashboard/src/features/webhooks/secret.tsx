import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy.tsx";

/** A secret that is shown once. */
export function ShownSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-center gap-2 rounded-lg border border-line bg-surface p-3">
        <code className="min-w-0 flex-1 font-mono text-[0.8125rem] break-all">{secret}</code>
        <CopyButton text={secret} what="secret" words />
      </div>
      <p className="text-muted">
        Your server uses this secret to verify that requests come from Parley. Store it with your program's other
        secrets.
      </p>
      <div className="flex justify-end">
        <Button variant="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
