import { clsx } from "clsx";
import type { ReactNode } from "react";

/** A part of a page, with a heading. */
export function Card({
  title,
  description,
  actions,
  className,
  children,
}: {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <section className={clsx("rounded-xl border border-line bg-raised p-5", className)}>
      {title && (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <div className="min-w-0">
            <h2 className="text-[0.9375rem] font-semibold">{title}</h2>
            {description && <p className="mt-0.5 text-muted">{description}</p>}
          </div>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
