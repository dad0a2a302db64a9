import { Switch as Radix } from "radix-ui";
import type { Control } from "./field.tsx";

export function Switch({
  checked,
  onChange,
  disabled = false,
  ...control
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  "aria-label"?: string;
} & Partial<Control>) {
  return (
    <Radix.Root
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled}
      className="inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-transparent bg-line-strong px-0.5 motion-safe:transition-colors data-[state=checked]:bg-accent disabled:opacity-50"
      {...control}
    >
      <Radix.Thumb className="size-4 rounded-full bg-white shadow-sm motion-safe:transition-transform data-[state=checked]:translate-x-3.5" />
    </Radix.Root>
  );
}
