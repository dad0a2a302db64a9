import type { ReactNode } from "react";
import { dollarsOf, durationOf, numberOf } from "../../../../ui/numbers.ts";
import { Notice } from "../../../../ui/states.tsx";
import { Time } from "../../../../ui/time.tsx";
import { unknownNote } from "../../../statistics/costs.ts";
import { isOpen, type Replay, type Run } from "../queries.ts";

/** How far a run or a replay is, and what it has cost. */
export function RunFacts({ run }: { run: Run | Replay }) {
  const { conversations, cost_usd, max_cost_usd, unpriced_replies, created_at, ended_at, error } = run;
  const { ended, total } = conversations;
  const unknown = unknownNote({ unpriced_replies });
  const seconds = ended_at === null ? null : (Date.parse(ended_at) - Date.parse(created_at)) / 1_000;
  return (
    <div className="flex flex-col gap-4">
      {isOpen(run) && (
        <progress
          aria-label="Conversations that have ended"
          value={ended}
          max={total}
          className="h-1.5 w-full overflow-hidden rounded-full bg-hover accent-accent [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent"
        />
      )}
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <Fact name="Conversations">
          {isOpen(run) ? `${numberOf(ended)} of ${numberOf(total)} ended` : numberOf(total)}
        </Fact>
        <Fact name="Cost">
          {dollarsOf(cost_usd * 1e6)}
          {max_cost_usd !== null && ` of at most ${dollarsOf(max_cost_usd * 1e6)}`}
          {unknown !== null && <span className="text-muted">, {unknown}</span>}
        </Fact>
        <Fact name="Began">
          <Time at={created_at} />
        </Fact>
        {seconds !== null && <Fact name="Took">{durationOf(seconds)}</Fact>}
      </dl>
      {error !== null && <Notice tone="danger">{error}</Notice>}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </div>
  );
}
