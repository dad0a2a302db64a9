import { clsx } from "clsx";
import { Check, ChevronDown } from "lucide-react";
import { Select as Radix } from "radix-ui";
import type { Control } from "./field.tsx";

export interface Option {
  value: string;
  label: string;
  hint?: string;
}

/** One of a list of options. @param value "" for none */
export function Select({
  value,
  onChange,
  options,
  placeholder = "Choose…",
  disabled,
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
    <Radix.Root value={value} onValueChange={onChange} disabled={disabled ?? false}>
      <Radix.Trigger
        className={clsx(
          "inline-flex h-9 w-full min-w-0 items-center justify-between gap-2 rounded-md border border-line-strong/60 bg-raised px-3 text-left shadow-xs outline-offset-0 hover:border-line-strong disabled:opacity-60 data-placeholder:text-muted [&>span]:truncate",
          className,
        )}
        {...control}
      >
        <Radix.Value placeholder={placeholder} />
        <Radix.Icon>
          <ChevronDown className="size-4 text-muted" aria-hidden />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          className="z-50 max-h-[min(24rem,var(--radix-select-content-available-height))] min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-raised p-1 shadow-lg"
        >
          <Radix.Viewport>
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                className="flex cursor-default items-center gap-2 rounded-md py-1.5 pr-3 pl-2 outline-none select-none data-highlighted:bg-hover"
              >
                <span className="w-4">
                  <Radix.ItemIndicator>
                    <Check className="size-4" aria-hidden />
                  </Radix.ItemIndicator>
                </span>
                <Radix.ItemText>{option.label}</Radix.ItemText>
                {option.hint && <span className="ml-auto pl-3 text-xs text-muted">{option.hint}</span>}
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
