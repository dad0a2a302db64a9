import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";

/** Leads to the conversation as it is stored, in another tab: leaving the page would end it. */
export function StoredLink({ conversationId }: { conversationId: string }) {
  return (
    <Link
      to="/conversations/$conversationId"
      params={{ conversationId }}
      search={{}}
      target="_blank"
      rel="noopener"
      className="mx-1 mt-1.5 inline-flex items-center gap-1 text-xs text-accent-ink hover:underline"
    >
      View the stored conversation <ExternalLink className="size-3" aria-hidden />
      <span className="sr-only">(opens in a new tab)</span>
    </Link>
  );
}
