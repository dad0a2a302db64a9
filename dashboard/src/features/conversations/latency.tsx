import { Timer } from "lucide-react";
import { latencyOf } from "../../ui/numbers.ts";
import { EmptyState } from "../../ui/states.tsx";
import type { Message } from "./queries.ts";
import { toolsBeforeFirstWord } from "./said.ts";
import { audibleAfter, partsOf, type Stage, UNFINISHED_NOTE } from "./waits.ts";

const COLORS: Record<Stage, string> = {
  end_of_turn: "bg-line-strong",
  transcript: "bg-(--chart-2)",
  first_word: "bg-(--chart-1)",
  first_audio: "bg-(--chart-3)",
  audible: "bg-(--chart-5)",
};
const WRITTEN = [
  { label: "First word", color: "bg-(--chart-1)" },
  { label: "Rest of the reply", color: "bg-(--chart-2)" },
] as const;

const TOOLS = { label: "Tool calls", color: "bg-(--chart-6)" };

interface Segment {
  label: string;
  color: string;
  ms: number;
}

/** How long the user waited for each reply, by stage. */
export function Latency({ messages }: { messages: readonly Message[] }) {
  const replies = messages.flatMap((message) => {
    const segments = segmentsOf(message);
    return segments.length > 0 ? [{ message, segments, total: totalOf(segments) }] : [];
  });
  if (replies.length === 0)
    return (
      <EmptyState icon={Timer} title="No measurements">
        After the agent replies, this shows how long each stage took.
      </EmptyState>
    );
  const longest = Math.max(...replies.map(({ total }) => total));
  const stages = new Map(replies.flatMap(({ segments }) => segments.map(({ label, color }) => [label, color])));
  return (
    <div className="flex flex-col gap-5">
      <ul className="flex flex-wrap gap-x-5 gap-y-1.5 text-muted">
        {[...stages].map(([label, color]) => (
          <li key={label} className="flex items-center gap-2">
            <span className={`size-2.5 rounded-sm ${color}`} aria-hidden />
            {label}
          </li>
        ))}
      </ul>
      <ol className="flex flex-col gap-3">
        {replies.map(({ message, segments, total }) => (
          <li key={message.timestamp} className="flex flex-col gap-1.5">
            <span className="flex items-baseline justify-between gap-4">
              <span className="min-w-0 truncate">{message.content}</span>
              <span className="shrink-0 font-medium tabular-nums">{latencyOf(audibleAfter(message) ?? total)}</span>
            </span>
            <Waterfall segments={segments} longest={longest} />
            {message.latency?.unfinished && <span className="text-xs text-muted">{UNFINISHED_NOTE}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Waterfall({ segments, longest }: { segments: readonly Segment[]; longest: number }) {
  const told = segments.map(({ label, ms }) => `${label} ${latencyOf(ms)}`).join(", ");
  return (
    <span className="flex flex-col gap-1">
      <span role="img" aria-label={told} className="flex h-2.5 overflow-hidden rounded-sm bg-hover">
        {segments.map(({ label, color, ms }) => (
          <span key={label} className={color} style={{ width: `${(ms / longest) * 100}%` }} />
        ))}
      </span>
      <span className="text-xs text-muted" aria-hidden>
        {told}
      </span>
    </span>
  );
}

function segmentsOf({ latency, reply, tool_calls = [] }: Message): Segment[] {
  const toolsMs = toolsBeforeFirstWord(tool_calls);
  if (latency) {
    return partsOf(latency).flatMap(({ stage, label, ms }) => {
      const part = { label, color: COLORS[stage], ms };
      return stage === "first_word" ? withTools(part, toolsMs) : [part];
    });
  }
  if (!reply || reply.total_ms === null) return [];
  const first = reply.first_word_ms ?? reply.total_ms;
  const parts = [first, reply.total_ms - first];
  const [firstWord, rest] = WRITTEN.map((stage, at) => ({ ...stage, ms: parts[at] ?? 0 })) as [Segment, Segment];
  return [...withTools(firstWord, toolsMs), rest].filter(({ ms }) => ms > 0);
}

/** The wait for a first word, apart from what passed until the tools before it had answered. */
function withTools(firstWord: Segment, toolsMs: number): Segment[] {
  const ms = Math.min(toolsMs, firstWord.ms);
  if (ms === 0) return [firstWord];
  return [
    { ...TOOLS, ms },
    { ...firstWord, ms: firstWord.ms - ms },
  ];
}

function totalOf(segments: readonly Segment[]): number {
  return segments.reduce((total, { ms }) => total + ms, 0);
}
