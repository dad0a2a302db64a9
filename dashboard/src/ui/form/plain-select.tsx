import { ChevronDown } from "lucide-react";
import type { Option } from "./select.tsx";

interface PlainSelectProps {
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
  "aria-label": string;
}

/** One of a few fixed options, as the browser shows them: for the first page, whose scripts are kept small. */
export function PlainSelect({ value, onChange, options, ...control }: PlainSelectProps) {
  return (
    <span className="relative flex w-full">
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-9 w-full appearance-none rounded-md border border-line-strong/60 bg-raised pr-9 pl-3 shadow-xs outline-offset-0 hover:border-line-strong"
        {...control}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown className="pointer-events-none absolute top-2.5 right-3 size-4 text-muted" aria-hidden />
    </span>
  );
}
