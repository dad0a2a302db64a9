import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { meter } from "@parley/shared/telemetry/instruments";
import { isWatched } from "@parley/shared/telemetry/spans";
import { countUnregistered } from "../store/trunk-registrations.ts";

/** A trunk that has not registered for longer is its owner's to see. */
const RECENT_MS = 24 * 60 * 60_000;

/** Reports, whenever metrics are read, how many trunks have stopped registering in the last day. @returns a function that stops this */
export function observeTrunks(db: Database, clock: Clock): () => void {
  if (!isWatched()) return () => {};
  const unregistered = meter().createObservableGauge("parley.trunks.unregistered", {
    description: "SIP trunks that have refused, not answered or not kept a registration since less than a day",
  });
  const observe: Parameters<typeof unregistered.addCallback>[0] = async (result) => {
    const now = clock.now();
    result.observe(await countUnregistered(db, now, new Date(now.getTime() - RECENT_MS)));
  };
  unregistered.addCallback(observe);
  return () => unregistered.removeCallback(observe);
}
