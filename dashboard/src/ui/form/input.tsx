import { clsx } from "clsx";
import type { ComponentProps } from "react";

const LOOK =
  "w-full min-w-0 rounded-md border border-line-strong/60 bg-raised px-3 text-ink shadow-xs motion-safe:transition-colors outline-offset-0 hover:border-line-strong aria-invalid:border-danger-ink disabled:opacity-60";

export function Input({ className, ...props }: ComponentProps<"input">) {
  return <input dir="auto" className={clsx(LOOK, "h-9", className)} {...props} />;
}

export function Textarea({ className, ...props }: ComponentProps<"textarea">) {
  return <textarea dir="auto" className={clsx(LOOK, "py-2", className)} {...props} />;
}
