import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Check } from "lucide-react";
import { read } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { keysQuery } from "../keys/keys.ts";
import { destinationsQuery } from "../webhooks/queries.ts";

/** What a new owner does first, until each is done. */
export function FirstSteps({ steps }: { steps: readonly Step[] }) {
  if (steps.every(({ done }) => done)) return null;
  const next = steps.find(({ done }) => !done);
  const doneCount = steps.filter(({ done }) => done).length;
  return (
    <Card
      title="First steps"
      actions={
        <span className="flex items-center gap-2.5 text-[0.8125rem] text-muted tabular-nums">
          <span className="flex gap-1" aria-hidden>
            {steps.map(({ title }, at) => (
              <span key={title} className={clsx("h-1.5 w-6 rounded-full", at < doneCount ? "bg-accent" : "bg-line")} />
            ))}
          </span>
          {doneCount} of {steps.length} done
        </span>
      }
    >
      <ol className="flex flex-col">
        {steps.map((step, at) => (
          <li
            key={step.title}
            className="flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-line py-3.5 first:border-t-0 first:pt-0 last:pb-0"
          >
            <span
              className={clsx(
                "flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold",
                step.done
                  ? "bg-success-soft text-success-ink"
                  : step === next
                    ? "bg-accent text-on-accent"
                    : "bg-hover text-muted",
              )}
            >
              {step.done ? <Check className="size-3.5" strokeWidth={3} aria-label="Done" /> : at + 1}
            </span>
            <span className="min-w-0 flex-1 basis-56">
              <span className={clsx("block font-medium", step.done && "text-muted")}>{step.title}</span>
              {!step.done && <span className="block text-muted">{step.text}</span>}
            </span>
            {!step.done && (
              <Button asChild size="small" variant={step === next ? "primary" : "secondary"}>
                <Link to={step.to} search={step.search}>
                  {step.action}
                </Link>
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

export interface Step {
  done: boolean;
  title: string;
  text: string;
  action: string;
  to: string;
  search: Record<string, unknown>;
}

/** The steps with those done, and whether the owner ever had a conversation; null until that is known. */
export function useFirstSteps(): { steps: readonly Step[]; hasConversations: boolean } | null {
  const agents = useQuery({
    queryKey: ["agents", "newest"],
    queryFn: ({ signal }) => read(signal, "/v1/public/agents", { query: { page_size: 1 } }),
  });
  const conversations = useQuery({
    queryKey: ["conversations", "newest"],
    // A chat that has just been tried adds one without notifying this page.
    staleTime: 0,
    queryFn: ({ signal }) => read(signal, "/v1/public/conversations", { query: { page_size: 1, shape: "flat" } }),
  });
  const destinations = useQuery(destinationsQuery);
  const keys = useQuery(keysQuery);
  if (!agents.data || !conversations.data || !destinations.data || !keys.data) return null;
  const newest = agents.data.agents[0];
  const hasConversations = "total" in conversations.data && conversations.data.total > 0;
  const steps = [
    {
      done: agents.data.total > 0,
      title: "Create an agent",
      text: "Start from a template with a greeting, a prompt, and a working model.",
      action: "New agent",
      to: "/agents",
      search: { new: true },
    },
    {
      done: hasConversations,
      title: "Talk to it",
      text: "Chat with it or speak to it, right here in the browser.",
      action: "Try it",
      to: newest ? `/agents/${newest.id}` : "/agents",
      search: newest ? { try: "chat" } : { new: true },
    },
    {
      done: keys.data.length > 0,
      title: "Add an API key",
      text: "Your own programs use it to call your agents through the API.",
      action: "New key",
      to: "/keys",
      search: { new: true },
    },
    {
      done: destinations.data.length > 0,
      title: "Add a webhook",
      text: "Get notified whenever a conversation ends.",
      action: "Add webhook",
      to: "/webhooks",
      search: { new: true },
    },
  ];
  return { steps, hasConversations };
}
