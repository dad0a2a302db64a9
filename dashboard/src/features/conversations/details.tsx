import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Copyable } from "../../ui/copy.tsx";
import { durationOf, latencyOf, numberOf } from "../../ui/numbers.ts";
import { Time } from "../../ui/time.tsx";
import { DocumentSets } from "../knowledge/document-sets.tsx";
import { carrierName } from "../numbers/providers.ts";
import { type Costs, costOf, isUnknown, unknownNote } from "../statistics/costs.ts";
import { ChannelLabel, DIRECTIONS } from "./names.tsx";
import type { Conversation } from "./queries.ts";
import { audibleAfter, medianOf } from "./waits.ts";

/** The facts of a conversation, each on its line. */
export function Details({ conversation, agentName }: { conversation: Conversation; agentName: string }) {
  const { conversation_metadata: metadata, calling_type, duration, usage } = conversation;
  const variables = Object.entries((metadata.dynamic_variables ?? {}) as Record<string, unknown>);
  const latencyMs = medianOf(
    (conversation.conversation_transcript ?? []).flatMap((message) => audibleAfter(message) ?? []),
  );
  return (
    <dl className="flex flex-col gap-3">
      <Fact name="Agent">
        <Link
          to="/agents/$agentId"
          params={{ agentId: conversation.agent_id }}
          className="font-medium text-accent-ink hover:underline"
        >
          {agentName}
        </Link>
      </Fact>
      <Fact name="Version">
        {conversation.agent_version === null ? (
          "Tried in the editor"
        ) : (
          <Link
            to="/agents/$agentId"
            params={{ agentId: conversation.agent_id }}
            search={{ tab: "versions", version: conversation.agent_version }}
            className="text-accent-ink hover:underline"
          >
            {conversation.agent_version}
          </Link>
        )}
      </Fact>
      <Fact name="Channel">
        <span className="inline-flex flex-wrap items-center gap-x-2">
          <ChannelLabel channel={conversation.conversation_type} />
          {calling_type && <span className="text-muted">{DIRECTIONS[calling_type]}</span>}
        </span>
      </Fact>
      {textOf(metadata.from_mobile_number) && <Fact name="From">{textOf(metadata.from_mobile_number)}</Fact>}
      {textOf(metadata.to_mobile_number) && <Fact name="To">{textOf(metadata.to_mobile_number)}</Fact>}
      {textOf(metadata.telephony_provider) && (
        <Fact name="Carrier">{carrierName(textOf(metadata.telephony_provider))}</Fact>
      )}
      <Fact name="Started">
        <Time at={conversation.created_at} />
      </Fact>
      {duration !== undefined && <Fact name="Duration">{durationOf(duration)}</Fact>}
      {usage && usage.replies > 0 && (
        <>
          <Fact name="Replies">{numberOf(usage.replies)}</Fact>
          <Fact name="Tokens">
            {numberOf(usage.input_tokens)} input, {numberOf(usage.output_tokens)} output
          </Fact>
          <Fact name="Cost">
            {costOf(usage)} <span className="text-muted">{costNote(conversation, usage)}</span>
          </Fact>
        </>
      )}
      {latencyMs !== null && <Fact name="Median latency">{latencyOf(latencyMs)}</Fact>}
      {conversation.scheduled_call && (
        <Fact name="Scheduled call">
          <Time at={conversation.scheduled_call.at} />
        </Fact>
      )}
      {conversation.start_webhook && <Fact name="Start webhook">{startOf(conversation.start_webhook)}</Fact>}
      {conversation.document_sets && conversation.document_sets.length > 0 && (
        <Fact name="Knowledge">
          <DocumentSets sets={conversation.document_sets} />
        </Fact>
      )}
      {conversation.notes && <Fact name="Notes">{conversation.notes}</Fact>}
      {variables.length > 0 && (
        <Fact name="Variables">
          <ul className="flex flex-col gap-1">
            {variables.map(([name, value]) => (
              <li key={name} className="break-words">
                <code className="font-mono text-xs text-muted">{name}</code> {String(value)}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      <Fact name="ID">
        <Copyable text={conversation.conversation_id} what="conversation ID" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[6.5rem_minmax(0,1fr)] items-baseline gap-3">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** What came of asking the agent's start webhook. */
function startOf({ status, duration_ms, error }: NonNullable<Conversation["start_webhook"]>): string {
  const took = duration_ms === 0 ? "under 1 ms" : latencyOf(duration_ms);
  return error === null ? `Status ${status}, ${took}` : `${error} (${took})`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What a known cost leaves out. */
function costNote({ conversation_type }: Conversation, usage: Costs): string {
  if (isUnknown(usage)) return "";
  const isCall = conversation_type !== "CHAT" && conversation_type !== "WHATSAPP";
  return [isCall && "without speech and carrier", unknownNote(usage)].filter(Boolean).join(", ");
}
