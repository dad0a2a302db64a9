import { Badge, type Tone } from "../../../../ui/badge.tsx";
import type { RunStatus } from "../queries.ts";

const STATUSES: Readonly<Record<RunStatus, { label: string; tone: Tone }>> = {
  QUEUED: { label: "Waiting", tone: "neutral" },
  RUNNING: { label: "Running", tone: "accent" },
  PASSED: { label: "Passed", tone: "success" },
  FAILED: { label: "Failed", tone: "danger" },
  CANCELLED: { label: "Cancelled", tone: "neutral" },
  ERROR: { label: "Error", tone: "warning" },
};
/** Replays neither pass nor fail: they differ from what is stored, or do not. */
const OF_REPLAYS: Partial<typeof STATUSES> = {
  PASSED: { label: "No difference", tone: "success" },
  FAILED: { label: "Differs", tone: "danger" },
};

/** How it is with a run, a replay, or a conversation of one. */
export function RunStatusBadge({ status, isReplay = false }: { status: RunStatus; isReplay?: boolean }) {
  const { label, tone } = (isReplay && OF_REPLAYS[status]) || STATUSES[status];
  return (
    <Badge tone={tone}>
      {status === "RUNNING" && <span className="size-1.5 rounded-full bg-current motion-safe:animate-pulse" />}
      {label}
    </Badge>
  );
}
