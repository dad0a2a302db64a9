import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";

const LOOK = "inline-flex items-center gap-1.5 text-sm font-normal text-muted hover:text-ink";

/** Leads from a knowledge base to all of them, or from a document to its knowledge base. */
export function BackLink({ base }: { base?: { id: string; name: string | undefined } }) {
  if (!base)
    return (
      <Link to="/knowledge" search={{}} className={LOOK}>
        <ArrowLeft className="size-4" aria-hidden /> Knowledge
      </Link>
    );
  return (
    <Link to="/knowledge/$baseId" params={{ baseId: base.id }} search={{}} className={LOOK}>
      <ArrowLeft className="size-4 shrink-0" aria-hidden /> {base.name ?? "Documents"}
    </Link>
  );
}
