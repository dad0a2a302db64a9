import { clsx } from "clsx";
import { ChevronDown } from "lucide-react";
import { useShownFirst } from "../painted.ts";
import type { Control } from "./field.tsx";

export interface Option {
  value: string;
  label: string;
  hint?: string | undefined;
}

/** One of a list of options, as the browser shows them. @param value "" for none, unless that is an option */
export function Select({
  value,
  onChange,
  options,
  placeholder = "Choose…",
  disabled = false,
  required = false,
  quiet = false,
  className,
  ...control
}: {
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
  placeholder?: string;
  disabled?: boolean;
  /** Whether a form asks for a choice before it is sent. */
  required?: boolean;
  /** Looks like a button, for a choice of what is shown instead of a field of a form. */
  quiet?: boolean;
  className?: string;
  "aria-label"?: string;
} & Partial<Control>) {
  const [shown, choose] = useShownFirst(value, onChange);
  const isNone = value === "" && options.every((option) => option.value !== "");
  return (
    <span className={clsx("relative flex w-full min-w-0", className)}>
      <select
        value={quiet ? shown : value}
        onChange={({ target }) => (quiet ? choose : onChange)(target.value)}
        disabled={disabled}
        required={required}
        className={clsx(
          "w-full min-w-0 appearance-none truncate rounded-md border bg-raised pr-8 shadow-xs outline-offset-0 disabled:opacity-60 aria-invalid:border-danger-ink",
          quiet
            ? "h-8 border-line pl-2.5 text-[0.8125rem] font-medium hover:bg-hover"
            : "h-9 border-line-strong/60 pl-3 hover:border-line-strong",
          isNone && "text-muted",
        )}
        {...control}
      >
        {isNone && (
          <option value="" disabled hidden>
            {placeholder}
          </option>
        )}
        {options.map((option) => (
          <option key={option.value} value={option.value} className="bg-raised text-ink">
            {option.hint ? `${option.label} (${option.hint})` : option.label}
          </option>
        ))}
      </select>
      <ChevronDown className="pointer-events-none absolute inset-y-0 right-2.5 my-auto size-4 text-muted" aria-hidden />
    </span>
  );
}
