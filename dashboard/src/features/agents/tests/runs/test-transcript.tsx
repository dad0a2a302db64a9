import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ArrowRightLeft } from "lucide-react";
import { latencyOf } from "../../../../ui/numbers.ts";
import { ToolCallCard } from "../../../conversations/tool-call-card.tsx";
import { agentNamesQuery, nameOfAgent } from "../../agents.ts";
import type { Attempt, Transcript } from "../queries.ts";
import { AssertionList } from "./assertion-list.tsx";

type Turn = Transcript["turns"][number];

/** What was said turn by turn, with what was expected of each turn beside it. */
export function TestTranscript({
  transcript: { greeting, turns, ended_by },
  assertions = [],
}: {
  transcript: Transcript;
  assertions?: Attempt["assertions"];
}) {
  return (
    <ol aria-label="Transcript" className="flex flex-col gap-3">
      {greeting !== null && (
        <li>
          <Said by="Agent" text={greeting} />
        </li>
      )}
      {turns.map((turn) => {
        const expected = assertions.filter((each) => each.turn === turn.turn);
        const hasFailed = expected.some(({ passed }) => !passed);
        return (
          <li
            key={turn.turn}
            className={clsx(
              "grid gap-4 rounded-lg border p-3 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]",
              hasFailed ? "border-danger-ink" : "border-line",
            )}
          >
            <TurnView turn={turn} />
            {expected.length > 0 && <AssertionList label={`Expected of turn ${turn.turn}`} results={expected} />}
          </li>
        );
      })}
      <li className="text-xs text-muted">{ENDED[ended_by]}</li>
    </ol>
  );
}

const ENDED: Record<Transcript["ended_by"], string> = {
  agent: "The agent ended the conversation.",
  user: "The user ended the conversation.",
  system: "The conversation ended by silence, a fault or too many turns.",
};

function TurnView({ turn }: { turn: Turn }) {
  const names = useQuery(agentNamesQuery).data;
  const facts = [
    turn.latency_ms !== null && latencyOf(turn.latency_ms),
    turn.sources.length > 0 && `Sources: ${turn.sources.map(({ name }) => name).join(", ")}`,
  ].filter(Boolean);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <span className="text-xs font-medium text-muted">Turn {turn.turn}</span>
      <Said by="User" text={turn.user} />
      {turn.tool_calls.map((call, at) => (
        <ToolCallCard key={at} call={cardOf(call)} />
      ))}
      {turn.handed_off_to.map((agentId) => (
        <p key={agentId} className="flex items-center gap-1.5 text-xs text-muted">
          <ArrowRightLeft className="size-3.5 shrink-0" aria-hidden /> {nameOfAgent(names, agentId)} takes over
        </p>
      ))}
      <Said by="Agent" text={turn.agent} />
      {facts.length > 0 && <span className="text-xs wrap-anywhere text-muted">{facts.join(" · ")}</span>}
    </div>
  );
}

function Said({ by, text }: { by: "User" | "Agent"; text: string }) {
  const isUser = by === "User";
  return (
    <div className={clsx("flex max-w-[92%] flex-col gap-1", isUser ? "items-end self-end" : "items-start self-start")}>
      <span className="text-xs text-muted">{by}</span>
      <p
        dir="auto"
        className={clsx(
          "max-w-full rounded-2xl px-3.5 py-2 whitespace-pre-wrap wrap-anywhere",
          isUser ? "rounded-tr-sm bg-accent text-on-accent" : "rounded-tl-sm bg-hover",
        )}
      >
        {text === "" ? <em>Nothing</em> : text}
      </p>
    </div>
  );
}

/** A call of a test as a stored conversation shows it, without what is not kept of it. */
function cardOf({ name, arguments: given, result, is_error }: Turn["tool_calls"][number]) {
  return {
    name,
    arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    result,
    is_error,
    status: is_error ? ("FAILED" as const) : ("SUCCEEDED" as const),
    ...{ tool_call_id: "", is_cut: false, http_status: null, note: null, attempts: 0 },
    ...{ started_ms: null, duration_ms: null, offset: 0 },
  };
}
