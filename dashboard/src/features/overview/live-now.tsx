import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Card } from "../../ui/card.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { ChannelLabel } from "../conversations/names.tsx";
import { conversationsQuery } from "../conversations/queries.ts";

const SHOWN_MAX = 5;
const LIVE = { conversation_status: "IN_PROGRESS" };

/** The conversations that are in progress, followed as they come and go. */
export function LiveNow() {
  const live = useQuery(conversationsQuery(LIVE));
  const names = useQuery(agentNamesQuery).data;
  return (
    <Card
      title={live.data ? `Live now: ${numberOf(live.data.total)}` : "Live now"}
      actions={
        live.data &&
        live.data.total > 0 && (
          <Link to="/conversations" search={LIVE} className="text-accent-ink hover:underline">
            Show all
          </Link>
        )
      }
    >
      {live.isPending ? (
        <Skeleton className="h-16" />
      ) : live.isLoadingError ? (
        <ErrorState error={live.error} onRetry={live.refetch} />
      ) : live.data.total === 0 ? (
        <p className="text-muted">No conversations in progress.</p>
      ) : (
        <ul className="-mx-2 flex flex-col">
          {live.data.conversations.slice(0, SHOWN_MAX).map((conversation) => (
            <li key={conversation.conversation_id}>
              <Link
                to="/conversations/$conversationId"
                params={{ conversationId: conversation.conversation_id }}
                search={{}}
                className="flex items-center gap-3 rounded-md px-2 py-2 hover:bg-hover"
              >
                <span className="size-1.5 shrink-0 rounded-full bg-accent-ink motion-safe:animate-pulse" />
                <span className="min-w-0 flex-1 truncate font-medium">{nameOfAgent(names, conversation.agent_id)}</span>
                <span className="max-sm:hidden">
                  <ChannelLabel channel={conversation.conversation_type} />
                </span>
                <span className="w-28 text-right text-muted">
                  <Time at={conversation.created_at} relative />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
