import { useEffect, useState } from "react";
import { clockOf } from "../../ui/numbers.ts";

const EVERY_MS = 1_000;

/** How long a call has lasted. @param since milliseconds since 1970 */
export function CallTimer({ since }: { since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span role="timer" aria-label="Duration of the call" className="font-mono text-[0.8125rem] text-muted tabular-nums">
      {clockOf((now - since) / 1_000)}
    </span>
  );
}
