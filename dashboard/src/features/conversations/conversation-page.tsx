import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { BackLink } from "../../app/back-link.tsx";
import { isMissing, NotFound } from "../../app/failures.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { MakeTestButton } from "../agents/tests/make-test-button.tsx";
import { ConversationDeliveries } from "../webhooks/conversation-deliveries.tsx";
import { Analysis } from "./analysis.tsx";
import { Details } from "./details.tsx";
import { CONVERSATION_TABS } from "./filters.ts";
import { JsonView } from "./json-view.tsx";
import { Latency } from "./latency.tsx";
import { LiveControls } from "./live/live-controls.tsx";
import { useLive } from "./live/use-live.ts";
import { isTest, StatusBadge } from "./names.tsx";
import { Player, recordingOf, usePlayback } from "./player.tsx";
import { type Conversation, conversationQuery } from "./queries.ts";
import { Transcript } from "./transcript.tsx";

const BACK = (
  <BackLink to="/conversations" search={{}}>
    Conversations
  </BackLink>
);

export function ConversationPage() {
  const { conversationId } = useParams({ from: "/signed-in/conversations/$conversationId" });
  const found = useQuery(conversationQuery(conversationId));
  if (found.data) return <Shown key={conversationId} conversation={found.data} />;
  if (isMissing(found.error)) return <NotFound what="conversation" all="/conversations" />;
  return (
    <Page title="Conversation" heading={BACK}>
      {found.isError ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <div role="status" aria-label="Loading" className="grid gap-6 xl:grid-cols-[1fr_20rem]">
          <Skeleton className="h-96" />
          <Skeleton className="h-64" />
        </div>
      )}
    </Page>
  );
}

function Shown({ conversation }: { conversation: Conversation }) {
  const { tab = "transcript" } = useSearch({ from: "/signed-in/conversations/$conversationId" });
  const navigate = useNavigate({ from: "/conversations/$conversationId" });
  const audio = useRef<HTMLAudioElement>(null);
  const playback = usePlayback(audio);
  const names = useQuery(agentNamesQuery).data;
  const nameOf = (agentId: string) => nameOfAgent(names, agentId);
  const agentName = nameOf(conversation.agent_id);
  const recording = recordingOf(conversation);
  const messages = conversation.conversation_transcript ?? [];
  const isRunning = conversation.conversation_status === "IN_PROGRESS";
  const { state, words } = useLive(conversation.conversation_id, isRunning);
  const tabs = [
    {
      value: "transcript",
      label: "Transcript",
      content: (
        <div className="flex flex-col gap-5">
          {recording && <Player ref={audio} address={recording} />}
          <Transcript
            conversation={conversation}
            playback={recording ? playback : null}
            nameOf={nameOf}
            words={isRunning ? words : {}}
          />
        </div>
      ),
    },
    { value: "latency", label: "Latency", content: <Latency messages={messages} /> },
    { value: "analysis", label: "Analysis", content: <Analysis conversation={conversation} /> },
    {
      value: "deliveries",
      label: "Deliveries",
      content: <ConversationDeliveries conversation={conversation} />,
    },
    { value: "json", label: "JSON", content: <JsonView value={conversation} /> },
  ];
  return (
    <Page
      title={`Conversation with ${agentName}`}
      heading={
        <span className="flex flex-col gap-2">
          {BACK}
          <span className="flex flex-wrap items-center gap-2.5">
            {agentName}
            <StatusBadge {...conversation} />
            {isTest(conversation) && <Badge>Test</Badge>}
          </span>
        </span>
      }
      actions={messages.some(({ role }) => role === "user") && <MakeTestButton {...conversation} />}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <Tabs
          label="Conversation views"
          tabs={tabs}
          value={tab}
          onChange={(next) =>
            navigate({ search: { tab: CONVERSATION_TABS.find((each) => each === next) }, replace: true })
          }
        />
        <div className="flex flex-col gap-6">
          {isRunning && (
            <Card title="Live">
              <LiveControls conversation={conversation} state={state} />
            </Card>
          )}
          <Card title="Details">
            <Details conversation={conversation} agentName={agentName} />
          </Card>
        </div>
      </div>
    </Page>
  );
}
