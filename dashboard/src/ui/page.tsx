import { type ReactNode, useEffect } from "react";

/** A page below the navigation: its heading, what can be done there, and its content. Names the browser's tab. */
export function Page({
  title,
  heading,
  description,
  actions,
  children,
}: {
  title: string;
  /** Replaces the title when the heading is more than text. */
  heading?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6 2xl:max-w-[88rem] px-4 py-6 sm:px-8 sm:py-8">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 grow basis-72">
          <h1 dir="auto" className="text-xl font-semibold tracking-tight wrap-anywhere">
            {heading ?? title}
          </h1>
          {description && <p className="mt-1 max-w-2xl wrap-anywhere text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
