import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ClipboardList } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { EmptyState, Notice } from "../../ui/states.tsx";
import { type Asked, isAwaited } from "./follow.ts";
import { type Conversation, conversationQuery } from "./queries.ts";

/** The results of the agent's analysis, field by field, and a button to run it again. */
export function Analysis({ conversation }: { conversation: Conversation }) {
  const { conversation_analysis: found, conversation_status } = conversation;
  if (conversation_status === "IN_PROGRESS")
    return (
      <EmptyState icon={ClipboardList} title="Not analyzed yet">
        Conversations are analyzed after they end.
      </EmptyState>
    );
  if (!found || found.length === 0)
    return (
      <EmptyState
        icon={ClipboardList}
        title="No analysis yet"
        action={<Analyze conversation={conversation}>Analyze</Analyze>}
      >
        An analysis takes a moment after the conversation ends. If the agent has none, turn it on in its Analysis tab.
      </EmptyState>
    );
  return (
    <div className="flex flex-col items-start gap-5">
      <dl className="w-full divide-y divide-line rounded-xl border border-line bg-raised">
        {found.map(({ name, value, error }) => (
          <div key={name} className="grid gap-1 px-4 py-3 sm:grid-cols-[14rem_minmax(0,1fr)] sm:gap-4">
            <dt className="font-mono text-[0.8125rem] break-words text-muted">{name}</dt>
            <dd className="min-w-0 break-words whitespace-pre-wrap">
              {error ? <Notice tone="warning">{error}</Notice> : shown(value)}
            </dd>
          </div>
        ))}
      </dl>
      <Analyze conversation={conversation}>Analyze again</Analyze>
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

function Analyze({
  conversation: { conversation_id, updated_at },
  children,
}: {
  conversation: Conversation;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  useQuery(conversationQuery(conversation_id, asked));
  const analyze = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/conversations/{conversation_id}/analysis", { params: { path: { conversation_id } } }),
    onSuccess: async () => {
      setAsked({ atMs: Date.now(), before: updated_at });
      tellDone("Analysis is in progress. It appears here when it is ready.");
      await client.invalidateQueries({ queryKey: ["conversation", conversation_id] });
    },
    onError: tellFailure,
  });
  return (
    <Button busy={analyze.isPending || isAwaited(updated_at, Date.now(), asked)} onClick={() => analyze.mutate()}>
      {children}
    </Button>
  );
}
