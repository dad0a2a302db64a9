import { clsx } from "clsx";
import { ArrowRightLeft, MessageSquareDashed } from "lucide-react";
import { Fragment, useEffect, useLayoutEffect, useRef } from "react";
import { clockOf, dollarsOf, latencyOf, numberOf } from "../../ui/numbers.ts";
import { EmptyState } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { Sources } from "../knowledge/sources.tsx";
import type { Words } from "./live/words.ts";
import { beganAt, placeOf } from "./place.ts";
import type { Playback } from "./player.tsx";
import type { Conversation, Message } from "./queries.ts";
import { saidInOrder, type ToolCall } from "./said.ts";
import { handedTo, speakersOf } from "./speakers.ts";
import { ToolCallCard } from "./tool-call-card.tsx";
import { audibleAfter } from "./waits.ts";

/** The transcript, in step with the recording. Grows while the conversation is live. */
export function Transcript({
  conversation,
  playback,
  nameOf,
  words,
}: {
  conversation: Conversation;
  playback: Playback | null;
  nameOf: NameOf;
  /** What is being said now. */
  words: Words;
}) {
  const messages = conversation.conversation_transcript ?? [];
  const speakers = speakersOf(conversation).map(nameOf);
  const isLive = conversation.conversation_status === "IN_PROGRESS";
  const end = useRef<HTMLDivElement>(null);
  const count = messages.length;
  const countBefore = useRef(count);
  const isEndSeen = useRef(true);
  // Before the browser sees that the new message has moved the end.
  useLayoutEffect(() => {
    // Whoever reads what was said before stays there.
    if (count > countBefore.current && isEndSeen.current) end.current?.scrollIntoView({ block: "nearest" });
    countBefore.current = count;
  }, [count]);
  const hasEnd = count > 0;
  useEffect(() => {
    if (!hasEnd || !end.current) return;
    const watcher = new IntersectionObserver(([seen]) => {
      isEndSeen.current = seen?.isIntersecting ?? true;
    });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [hasEnd]);
  if (count === 0)
    return (
      <EmptyState icon={MessageSquareDashed} title={isLive ? "Nothing said yet" : "Nothing was said"}>
        {isLive ? "The conversation appears here as it happens." : "The conversation ended before anyone spoke."}
      </EmptyState>
    );
  const offsetOf = (message: Message) => placeOf(message, conversation);
  const spoken = playback?.at ?? null;
  const current = spoken === null ? -1 : messages.findLastIndex((message) => offsetOf(message) <= spoken);
  return (
    <div>
      <ol aria-label="Transcript" aria-live={isLive ? "polite" : "off"} className="flex flex-col gap-4">
        {messages.map((message, at) => (
          <Fragment key={`${message.timestamp} ${at}`}>
            <Line
              message={message}
              name={sideOf(message) ?? speakers[at] ?? ""}
              nameOf={nameOf}
              startedAt={conversation.created_at}
              offset={offsetOf(message)}
              isCurrent={at === current}
              onSeek={playback?.seek}
            />
            {message.role === "user" && message.tool_calls && (
              <li className={clsx(LINE, "items-start self-start")}>
                <span className="max-w-full truncate text-xs font-medium text-muted">{speakers[at]}</span>
                {message.tool_calls.map((call, each) => (
                  <Called key={`${call.name} ${each}`} call={call} nameOf={nameOf} />
                ))}
              </li>
            )}
          </Fragment>
        ))}
      </ol>
      {(["user", "assistant"] as const).map(
        (role) =>
          words[role] && (
            <p
              key={role}
              dir="auto"
              aria-hidden
              className={clsx("mt-4 text-muted italic", role === "user" && "text-right")}
            >
              {words[role]}
            </p>
          ),
      )}
      {isLive && (
        <p className="mt-4 flex items-center gap-2 text-muted">
          <span className="size-1.5 rounded-full bg-accent motion-safe:animate-pulse" /> Live
        </p>
      )}
      <div ref={end} />
    </div>
  );
}

/** The name of an agent. */
type NameOf = (agentId: string) => string;

/** A line where another agent takes over, a card for any other tool call. */
function Called({ call, nameOf }: { call: ToolCall; nameOf: NameOf }) {
  const agentId = handedTo(call);
  if (agentId === null) return <ToolCallCard call={call} />;
  return (
    <p className="flex max-w-full items-center gap-1.5 text-xs text-muted">
      <ArrowRightLeft className="size-3.5 shrink-0" aria-hidden />
      <span className="min-w-0 truncate">{nameOf(agentId)} takes over</span>
    </p>
  );
}

const LINE = "flex max-w-[min(42rem,92%)] flex-col gap-1.5";

function Line({
  message,
  name,
  nameOf,
  startedAt,
  offset,
  isCurrent,
  onSeek,
}: {
  message: Message;
  name: string;
  nameOf: NameOf;
  startedAt: string;
  offset: number;
  isCurrent: boolean;
  onSeek: Playback["seek"] | undefined;
}) {
  const isUser = message.role === "user";
  // Tool calls after the user's words without a reply get a line of their own.
  const said = saidInOrder(message.content, isUser ? [] : (message.tool_calls ?? []));
  return (
    <li
      aria-current={isCurrent || undefined}
      className={clsx(LINE, isUser ? "items-end self-end" : "items-start self-start")}
    >
      <span className="flex max-w-full items-baseline gap-2 text-xs text-muted">
        <span className="truncate font-medium">{name}</span>
        {onSeek ? (
          <button
            type="button"
            className="rounded-sm tabular-nums hover:text-ink hover:underline"
            aria-label={`Play from ${clockOf(offset)}`}
            onClick={() => onSeek(offset)}
          >
            {clockOf(offset)}
          </button>
        ) : (
          <Time at={beganAt(message)} on={startedAt} />
        )}
        {message.filler && <span>said while a tool ran</span>}
        {message.by === "operator" && <span>written by an operator</span>}
      </span>
      {said.map((each, at) =>
        each.type === "call" ? (
          <Called key={`call ${at}`} call={each.call} nameOf={nameOf} />
        ) : (
          <p
            key={`text ${at}`}
            dir="auto"
            className={clsx(
              "max-w-full rounded-2xl px-3.5 py-2 break-words whitespace-pre-wrap transition-shadow",
              isUser ? "rounded-tr-sm bg-accent text-on-accent" : "rounded-tl-sm",
              !isUser && (message.filler ? "border border-dashed border-line-strong text-muted italic" : "bg-hover"),
              isCurrent && "ring-2 ring-accent-ink ring-offset-2 ring-offset-canvas",
            )}
          >
            {each.text}
          </p>
        ),
      )}
      <Sources sources={message.sources} knowledge={message.knowledge} />
      <Footnote message={message} />
    </li>
  );
}

/** The reply's cost, or the message's delivery status. */
function Footnote({ message }: { message: Message }) {
  const { reply, delivery_status, delivery_error } = message;
  const after = audibleAfter(message);
  const parts = [
    after !== null && latencyOf(after),
    reply?.model_name,
    reply && reply.output_tokens !== null && `${numberOf(reply.output_tokens)} tokens`,
    reply?.cost_usd_micros != null && dollarsOf(reply.cost_usd_micros),
    reply?.is_partial && `cut short${reply.partial_reason ? `: ${reply.partial_reason}` : ""}`,
    delivery_status && `${delivery_status.toLowerCase()}${delivery_error ? `: ${delivery_error}` : ""}`,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return <span className="text-xs text-muted">{parts.join(" · ")}</span>;
}

/** Null for an agent. */
function sideOf({ role }: Message): string | null {
  if (role === "person") return "Person";
  return role === "user" ? "User" : null;
}
