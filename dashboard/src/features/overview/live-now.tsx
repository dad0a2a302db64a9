import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { ListenButton } from "../conversations/live/listen-button.tsx";
import { LiveControls } from "../conversations/live/live-controls.tsx";
import { TakeOverButton } from "../conversations/live/take-over-button.tsx";
import { useLive, useLiveLists } from "../conversations/live/use-live.ts";
import { ChannelLabel } from "../conversations/names.tsx";
import { type Conversation, readConversations } from "../conversations/queries.ts";

const SHOWN_MAX = 5;
const IN_PROGRESS = { conversation_status: "IN_PROGRESS" };
/** Conversations in progress that are looked at; of more, those that are live are not counted. */
const READ_MAX = 100;
/** Events tell who comes and goes; a text conversation becomes silent without one. */
const EVERY_MS = 30_000;
/** A text conversation stays in progress for half an hour after its last message, when nobody may be there any more. */
const SILENT_MS = 2 * 60_000;

/** Calls in progress, and text conversations in which something was said just now, followed as they come and go. */
export function LiveNow() {
  useLiveLists();
  const live = useQuery({
    queryKey: ["conversations", "live"],
    queryFn: async ({ signal }) => {
      const { conversations, total } = await readConversations(IN_PROGRESS, { size: READ_MAX, signal });
      return { conversations: conversations.filter(isLive), areAll: total <= READ_MAX };
    },
    refetchInterval: EVERY_MS,
  });
  const names = useQuery(agentNamesQuery).data;
  const count = live.data?.conversations.length ?? 0;
  return (
    <Card
      title={live.data ? `Live now: ${numberOf(count)}${live.data.areAll ? "" : "+"}` : "Live now"}
      actions={
        count > 0 && (
          <Link to="/conversations" search={IN_PROGRESS} className="text-accent-ink hover:underline">
            All in progress
          </Link>
        )
      }
    >
      {live.isPending ? (
        <Skeleton className="h-16" />
      ) : live.isLoadingError ? (
        <ErrorState error={live.error} onRetry={live.refetch} />
      ) : count === 0 ? (
        <p className="text-muted">Nobody is talking to an agent right now.</p>
      ) : (
        <ul className="-mx-2 flex flex-col">
          {live.data.conversations.slice(0, SHOWN_MAX).map((conversation) => (
            <LiveRow
              key={conversation.conversation_id}
              conversation={conversation}
              agentName={nameOfAgent(names, conversation.agent_id)}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** One of them, with what a person can do with it. */
function LiveRow({ conversation, agentName }: { conversation: Conversation; agentName: string }) {
  const { conversation_id: conversationId } = conversation;
  const [isOpen, setOpen] = useState(false);
  const { state } = useLive(conversationId, isOpen);
  return (
    <li className="pr-2">
      <div className="flex items-center gap-2">
        <Link
          to="/conversations/$conversationId"
          params={{ conversationId }}
          search={{}}
          className="flex min-w-0 flex-1 items-center gap-3 rounded-md px-2 py-2 hover:bg-hover"
        >
          <span className="size-1.5 shrink-0 rounded-full bg-accent-ink motion-safe:animate-pulse" />
          <span dir="auto" className="min-w-0 flex-1 truncate font-medium">
            {agentName}
          </span>
          <span className="max-sm:hidden">
            <ChannelLabel channel={conversation.conversation_type} />
          </span>
          <span className="w-28 text-right text-muted">
            <Time at={conversation.created_at} relative />
          </span>
        </Link>
        {isText(conversation) ? (
          <TakeOverButton conversationId={conversationId} onTaken={() => setOpen(true)} />
        ) : (
          <ListenButton conversationId={conversationId} size="small" />
        )}
        <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Say
        </Button>
      </div>
      {isOpen && (
        <div className="px-2 py-3">
          <LiveControls conversation={conversation} state={state} />
        </div>
      )}
    </li>
  );
}

function isLive(conversation: Conversation): boolean {
  return !isText(conversation) || Date.now() - Date.parse(conversation.updated_at) < SILENT_MS;
}

function isText({ conversation_type }: Conversation): boolean {
  return conversation_type === "CHAT" || conversation_type === "WHATSAPP";
}
