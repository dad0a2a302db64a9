import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/states.tsx";
import { ReadableValue } from "../versions/readable-value.tsx";
import type { AgentDraft } from "./draft.ts";
import { labelOfField } from "./field-labels.ts";

/** What was changed here, and meanwhile in another tab or by someone else: shows their value and asks which one to keep. */
export function Conflicts({ draft: { conflicts, settle } }: { draft: AgentDraft }) {
  if (conflicts.length === 0) return null;
  return (
    <div className="pt-3">
      <Notice tone="warning">
        <p className="font-medium">
          This agent was changed in another tab or by someone else while you were editing. Your text is kept. Choose
          what to save:
        </p>
        <ul className="mt-2 flex flex-col gap-3">
          {conflicts.map(({ field, theirs }) => {
            const label = labelOfField(field);
            return (
              <li key={field} className="flex flex-col gap-1.5">
                <p>{label} is now:</p>
                <div
                  dir="auto"
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
                  tabIndex={0}
                  className="max-h-40 overflow-auto rounded-md border border-line bg-raised p-2 whitespace-pre-wrap text-ink"
                >
                  <ReadableValue field={field} value={theirs} />
                </div>
                <div className="flex flex-wrap gap-2">
                  <Button size="small" aria-label={`Keep mine: ${label}`} onClick={() => settle(field, "mine")}>
                    Keep mine
                  </Button>
                  <Button size="small" aria-label={`Use theirs: ${label}`} onClick={() => settle(field, "theirs")}>
                    Use theirs
                  </Button>
                </div>
              </li>
            );
          })}
        </ul>
      </Notice>
    </div>
  );
}
