import { clsx } from "clsx";
import { ChevronDown } from "lucide-react";
import type { Control } from "./field.tsx";

export interface Option {
  value: string;
  label: string;
  hint?: string | undefined;
}

/** One of a list of options, as the browser shows them. @param value "" for none */
export function Select({
  value,
  onChange,
  options,
  placeholder = "Choose…",
  disabled = false,
  className,
  ...control
}: {
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
  placeholder?: string;
  disabled?: boolean;
  className?: string;
  "aria-label"?: string;
} & Partial<Control>) {
  return (
    <span className={clsx("relative flex w-full min-w-0", className)}>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        disabled={disabled}
        className={clsx(
          "h-9 w-full min-w-0 appearance-none truncate rounded-md border border-line-strong/60 bg-raised pr-9 pl-3 shadow-xs outline-offset-0 hover:border-line-strong disabled:opacity-60 aria-invalid:border-danger-ink",
          value === "" && "text-muted",
        )}
        {...control}
      >
        {value === "" && (
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
      <ChevronDown className="pointer-events-none absolute top-2.5 right-3 size-4 text-muted" aria-hidden />
    </span>
  );
}
