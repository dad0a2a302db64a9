import { Button } from "../button.tsx";
import { Notice } from "../states.tsx";
import { Time } from "../time.tsx";

/** Offers unsaved work of an earlier visit. @param at when it was kept; null for none */
export function LeftWork({ at, onDecide }: { at: string | null; onDecide: (choice: "restore" | "forget") => void }) {
  if (at === null) return null;
  return (
    <div className="pt-3">
      <Notice tone="accent">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="min-w-0 flex-1 basis-56">
            You left unsaved changes here <Time at={at} relative />.
          </p>
          <div className="flex gap-2">
            <Button size="small" onClick={() => onDecide("restore")}>
              Restore
            </Button>
            <Button size="small" variant="ghost" onClick={() => onDecide("forget")}>
              Discard them
            </Button>
          </div>
        </div>
      </Notice>
    </div>
  );
}
