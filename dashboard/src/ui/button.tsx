import { clsx } from "clsx";
import { LoaderCircle } from "lucide-react";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";

const VARIANTS = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover",
  secondary: "border border-line bg-raised text-ink shadow-xs hover:bg-hover",
  ghost: "text-muted hover:bg-hover hover:text-ink",
  danger: "bg-danger text-on-accent hover:opacity-90",
} as const;
const SIZES = { medium: "h-9 px-3.5", small: "h-8 px-2.5 text-[0.8125rem]", icon: "size-8" } as const;

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: keyof typeof VARIANTS;
  size?: keyof typeof SIZES;
  /** Shows that the click is being processed, and accepts no other. */
  busy?: boolean;
  /** Gives the look to its only child, such as a link. */
  asChild?: boolean;
}

export function Button({
  variant = "secondary",
  size = "medium",
  busy = false,
  asChild = false,
  className,
  children,
  onClick,
  ...props
}: ButtonProps) {
  const look = clsx(
    "inline-flex shrink-0 items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap motion-safe:transition-colors",
    "active:opacity-80 aria-expanded:bg-hover disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0",
    VARIANTS[variant],
    SIZES[size],
    className,
  );
  if (asChild)
    return (
      <Slot.Root className={look} onClick={onClick} {...props}>
        {children}
      </Slot.Root>
    );
  return (
    <button
      type="button"
      className={look}
      // A disabled button would lose the focus.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...props}
    >
      {busy && <LoaderCircle className="motion-safe:animate-spin" aria-hidden />}
      {children}
    </button>
  );
}
