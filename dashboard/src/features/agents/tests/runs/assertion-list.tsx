import { clsx } from "clsx";
import { Check, X } from "lucide-react";
import { useId } from "react";
import { NamedAgents } from "../../named-agents.tsx";
import { assertionLabel } from "../editor/assertion-rows.ts";
import type { Attempt } from "../queries.ts";

type Result = Attempt["assertions"][number];

/** What was expected, and whether and why it holds; what failed comes first. */
export function AssertionList({ label, results }: { label: string; results: readonly Result[] }) {
  const id = useId();
  const ordered = results.toSorted((a, b) => Number(a.passed) - Number(b.passed));
  return (
    <div>
      <p id={id} className="mb-1.5 text-xs font-medium text-muted">
        {label}
      </p>
      <ul aria-labelledby={id} className="flex flex-col gap-2">
        {ordered.map(({ type, passed, reason }, at) => (
          <li
            key={at}
            className={clsx("flex items-start gap-2 rounded-lg px-3 py-2", passed ? "bg-surface" : "bg-danger-soft")}
          >
            {passed ? (
              <Check className="mt-0.5 size-4 shrink-0 text-success-ink" aria-hidden />
            ) : (
              <X className="mt-0.5 size-4 shrink-0 text-danger-ink" aria-hidden />
            )}
            <span className="min-w-0">
              <span className={clsx("font-medium", !passed && "text-danger-ink")}>
                <span className="sr-only">{passed ? "Holds: " : "Failed: "}</span>
                {assertionLabel(type)}
              </span>
              <span dir="auto" className={clsx("block wrap-anywhere", passed ? "text-muted" : "text-ink")}>
                <NamedAgents text={reason} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
