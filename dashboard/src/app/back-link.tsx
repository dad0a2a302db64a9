import { createLink } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ComponentProps } from "react";

/** Leads from a thing to the list that it is in. */
export const BackLink = createLink(({ children, ...link }: ComponentProps<"a">) => (
  <a {...link} className="inline-flex items-center gap-1.5 text-sm font-normal text-muted hover:text-ink">
    <ArrowLeft className="size-4 shrink-0" aria-hidden /> {children}
  </a>
));
