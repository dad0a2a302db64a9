import { Link } from "@tanstack/react-router";
import { PhoneIncoming, PhoneOutgoing } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { durationOf, numberOf } from "../../../ui/numbers.ts";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { type AgentNames, nameOfAgent } from "../../agents/agents.ts";
import { costOf } from "../../statistics/costs.ts";
import { ChannelLabel, DIRECTIONS, isTest, StatusBadge } from "../names.tsx";
import { openingOf } from "../opening.ts";
import type { Conversation } from "../queries.ts";
import { matchIn } from "./match.ts";

/** The columns that the viewer can choose; each conversation's opening is always shown. */
export const CHOSEN_COLUMNS = [
  "Number",
  "Agent",
  "Version",
  "Status",
  "Channel",
  "Messages",
  "Duration",
  "Cost",
  "Started",
] as const;
export type ChosenColumn = (typeof CHOSEN_COLUMNS)[number];

/** The columns of the list. @param search what was searched, which each conversation shows where it was found */
export function columnsOf(
  names: AgentNames | undefined,
  chosen: readonly ChosenColumn[],
  search: string | undefined,
): readonly Column<Conversation>[] {
  const agentOf = ({ agent_id }: Conversation) => nameOfAgent(names, agent_id);
  const all: readonly (Column<Conversation> & { name: "Conversation" | ChosenColumn })[] = [
    {
      name: "Conversation",
      className: "max-w-0 w-full min-w-40",
      cell: (conversation) => (
        <>
          <span className="flex items-center gap-2">
            <Link
              to="/conversations/$conversationId"
              params={{ conversationId: conversation.conversation_id }}
              className={`${ROW_LINK} block truncate`}
              dir="auto"
            >
              {openingOf(conversation)}
            </Link>
            {isTest(conversation) && <Badge>Test</Badge>}
          </span>
          {search && <Found conversation={conversation} search={search} />}
          <span className="block truncate text-xs text-muted xl:hidden">
            {agentOf(conversation)}
            <span className="md:hidden">
              {" "}
              · <Time at={conversation.created_at} relative />
            </span>
          </span>
        </>
      ),
    },
    { name: "Number", wide: "very", className: "whitespace-nowrap text-muted tabular-nums", cell: numberCell },
    { name: "Agent", wide: "very", className: "max-w-44 truncate text-muted", cell: agentOf },
    { name: "Version", wide: true, ...FIGURES, cell: ({ agent_version }) => agent_version ?? "–" },
    {
      name: "Status",
      className: "max-w-36",
      cell: (conversation) => (
        <>
          <StatusBadge {...conversation} />
          {conversation.notes && (
            <span title={conversation.notes} className="relative block truncate text-xs text-muted max-md:hidden">
              {conversation.notes}
            </span>
          )}
        </>
      ),
    },
    {
      name: "Channel",
      wide: true,
      cell: ({ conversation_type }) => <ChannelLabel channel={conversation_type} isIcon />,
    },
    {
      name: "Messages",
      wide: true,
      ...FIGURES,
      cell: ({ conversation_transcript }) => numberOf(conversation_transcript?.length ?? 0),
    },
    {
      name: "Duration",
      wide: true,
      ...FIGURES,
      cell: ({ duration }) => (duration === undefined ? "–" : durationOf(duration)),
    },
    { name: "Cost", wide: "very", ...FIGURES, cell: ({ usage }) => (usage ? costOf(usage) : "–") },
    { name: "Started", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
  ];
  return all.filter(({ name }) => name === "Conversation" || chosen.includes(name));
}

function numberCell({ mobile_number, calling_type }: Conversation) {
  if (!mobile_number) return "–";
  const Icon = calling_type === "OUTBOUND" ? PhoneOutgoing : PhoneIncoming;
  return (
    <span className="inline-flex items-center gap-1.5">
      {calling_type && (
        <>
          <Icon className="size-3.5" aria-hidden />
          <span className="sr-only">{DIRECTIONS[calling_type]}</span>
        </>
      )}
      <span dir="ltr">{mobile_number}</span>
    </span>
  );
}

function Found({ conversation, search }: { conversation: Conversation; search: string }) {
  const match = matchIn(conversation, search);
  if (!match) return null;
  return (
    <span className="line-clamp-2 text-[0.8125rem] text-muted" dir="auto">
      {match.where}:{" "}
      {match.pieces.map(({ text, isMatch }, at) =>
        isMatch ? (
          <mark key={at} className="rounded-xs bg-warning-soft text-warning-ink">
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </span>
  );
}
