import { clsx } from "clsx";
import { ArrowUp, RotateCcw, Square } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { latencyOf, numberOf } from "../../ui/numbers.ts";
import { Notice } from "../../ui/states.tsx";
import { saidInOrder, type ToolCall } from "../conversations/said.ts";
import { ToolCallCard } from "../conversations/tool-call-card.tsx";
import { Sources } from "../knowledge/sources.tsx";
import { filled } from "../prompts/variables.ts";
import { type AskedResult, ClientCallForm } from "./client-call-form.tsx";
import type { GivenResult } from "./live-calls.ts";
import type { Setup } from "./setup.ts";
import { StoredLink } from "./stored-link.tsx";
import { type Turn, useChat } from "./use-chat.ts";

/** A chat with the agent; shows how long each reply took. */
export function Chat({ setup }: { setup: Setup }) {
  const chat = useChat(setup);
  const bottom = useRef<HTMLDivElement>(null);
  const last = chat.turns.at(-1);
  useEffect(() => {
    bottom.current?.scrollIntoView({ block: "end" });
  }, [chat.turns.length, last?.reply, last?.toolCalls, last?.error, chat.end]);
  // What was said stays, whatever the settings become.
  const greeting = chat.session?.greeting ?? filled(setup.greeting, setup.variables, setup.values);
  return (
    <>
      <div role="log" aria-label="Chat" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
        {greeting && <Bubble from="agent" text={greeting} />}
        {chat.turns.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            onRetry={chat.end ? null : () => chat.retry(turn.id)}
            onGive={(toolCallId, given) => chat.give(turn.id, toolCallId, given)}
          />
        ))}
        {chat.end && (
          <Notice>
            <p>{chat.end === "by the agent" ? "The agent ended the conversation." : "The conversation has ended."}</p>
            <Button size="small" className="mt-2" onClick={chat.restart}>
              <RotateCcw aria-hidden /> Start over
            </Button>
          </Notice>
        )}
        {!greeting && chat.turns.length === 0 && (
          <p className="m-auto max-w-64 text-center text-muted">
            Send a message. The agent replies with{" "}
            {setup.version === null ? "the settings on screen, saved or not" : `version ${setup.version}`}.
          </p>
        )}
        <div ref={bottom} />
      </div>
      <MessageForm chat={chat} />
    </>
  );
}

/** What is typed renders alone: the chat above it may be long. */
function MessageForm({ chat }: { chat: ReturnType<typeof useChat> }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === "" || chat.isReplying || chat.end !== null) return;
    chat.send(text.trim());
    setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      submit();
    }
  };
  return (
    <form onSubmit={submit} className="border-t border-line p-3">
      <div className="flex items-end gap-2 rounded-xl border border-line-strong/60 bg-raised p-1.5 focus-within:border-accent-ink">
        <textarea
          ref={field}
          aria-label="Message"
          rows={1}
          maxLength={4_000}
          placeholder="Message the agent…"
          className="field-sizing-content max-h-40 min-h-8 flex-1 resize-none bg-transparent px-2 py-1.5 outline-none"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
        />
        {chat.isReplying ? (
          <Button size="icon" aria-label="Stop the reply" onClick={chat.stop}>
            <Square aria-hidden />
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            size="icon"
            aria-label="Send"
            disabled={text.trim() === "" || chat.end !== null}
          >
            <ArrowUp aria-hidden />
          </Button>
        )}
      </div>
      <div className="mt-1.5 flex items-center justify-between gap-2 px-1 text-xs text-muted">
        <span>
          {chat.tokens
            ? `${numberOf(chat.tokens.input)} input tokens, ${numberOf(chat.tokens.output)} output tokens`
            : "Test conversation: sends no webhooks and is not counted as usage"}
        </span>
        {chat.end === null && (
          <Button variant="ghost" size="small" onClick={chat.restart} disabled={chat.turns.length === 0}>
            <RotateCcw aria-hidden /> Start over
          </Button>
        )}
      </div>
      {chat.session && <StoredLink conversationId={chat.session.id} />}
    </form>
  );
}

/** @param onRetry null when the message can no longer be sent */
function TurnView({
  turn,
  onRetry,
  onGive,
}: {
  turn: Turn;
  onRetry: (() => void) | null;
  onGive: (toolCallId: string, given: GivenResult) => void;
}) {
  const said = saidInOrder(turn.reply, turn.toolCalls);
  const isWriting = turn.state === "replying";
  const askedFor = (toolCallId: string): AskedResult | null => {
    const timeoutMs = turn.waitsFor[toolCallId];
    return timeoutMs === undefined ? null : { timeoutMs, onGive: (given) => onGive(toolCallId, given) };
  };
  return (
    <>
      <Bubble from="user" text={turn.message} />
      {said.map((each, at) =>
        each.type === "text" ? (
          <Bubble key={`text ${at}`} from="agent" text={each.text} isWriting={isWriting && at === said.length - 1} />
        ) : (
          <CalledTool key={each.call.tool_call_id} call={each.call} asked={askedFor(each.call.tool_call_id)} />
        ),
      )}
      {isWriting && said.at(-1)?.type !== "text" && <Bubble from="agent" text="" isWriting />}
      {turn.state === "stopped" && <p className="-mt-3 px-1 text-xs text-muted">Stopped</p>}
      <Grounded turn={turn} />
      {turn.timing && (
        <p className="-mt-3 px-1 text-xs text-muted tabular-nums">
          First word {latencyOf(Math.round(turn.timing.firstWordMs))}, full reply{" "}
          {latencyOf(Math.round(turn.timing.totalMs))}
        </p>
      )}
      {turn.error && (
        <Notice tone="danger">
          <p>{turn.error}</p>
          {onRetry && (
            <Button size="small" className="mt-2" onClick={onRetry}>
              Try again
            </Button>
          )}
        </Notice>
      )}
    </>
  );
}

function Grounded({ turn: { grounds } }: { turn: Turn }) {
  if (!grounds.sources?.length && !grounds.knowledge) return null;
  return (
    <div className="-mt-2 flex max-w-[85%] flex-col gap-1">
      <Sources {...grounds} apart />
    </div>
  );
}

/** @param asked null when the person is not asked for its result */
export function CalledTool({ call, asked }: { call: ToolCall; asked: AskedResult | null }) {
  return (
    <div className="max-w-[85%] self-start">
      <ToolCallCard key={asked ? "asked" : "told"} call={call} startsOpen={asked !== null} />
      {asked && <ClientCallForm name={call.name} asked={asked} />}
    </div>
  );
}

/** The messages. A model's markup is shown as text. */
export function Bubble({
  from,
  text,
  isWriting = false,
}: {
  from: "agent" | "user";
  text: string;
  isWriting?: boolean;
}) {
  return (
    <div
      className={clsx(
        "max-w-[85%] rounded-2xl px-3.5 py-2 break-words whitespace-pre-wrap",
        from === "user" ? "self-end bg-accent text-on-accent" : "self-start border border-line bg-raised",
      )}
    >
      <span className="sr-only">{from === "user" ? "You: " : "Agent: "}</span>
      {text}
      {isWriting && (
        <span className="ml-0.5 inline-block h-3.5 w-1.5 translate-y-0.5 rounded-sm bg-muted motion-safe:animate-pulse" />
      )}
    </div>
  );
}
