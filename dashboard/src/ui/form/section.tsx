import type { ReactNode } from "react";

/** A part of a tab: a heading with a sentence, and its fields. */
export function Section({
  title,
  description,
  actions,
  children,
}: {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <section className="border-b border-line pb-8 last:border-b-0 last:pb-0">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <h2 className="text-[0.9375rem] font-semibold">{title}</h2>
          {description && <p className="mt-0.5 text-muted">{description}</p>}
        </div>
        {actions}
      </div>
      <div className="flex flex-col gap-5">{children}</div>
    </section>
  );
}

/** A tab's content. */
export function Sections({ children }: { children: ReactNode }) {
  return <div className="flex flex-col gap-8">{children}</div>;
}
