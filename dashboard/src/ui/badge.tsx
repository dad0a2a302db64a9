import { clsx } from "clsx";
import type { ReactNode } from "react";

const TONES = {
  neutral: "bg-hover text-muted",
  accent: "bg-accent-soft text-accent-ink",
  success: "bg-success-soft text-success-ink",
  warning: "bg-warning-soft text-warning-ink",
  danger: "bg-danger-soft text-danger-ink",
} as const;
export type Tone = keyof typeof TONES;

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={clsx(
        "inline-flex items-center gap-1 rounded-full align-middle px-2 py-0.5 text-xs font-medium whitespace-nowrap [&_svg]:size-3",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}
