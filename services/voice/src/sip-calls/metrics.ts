import { counter } from "@parley/shared/telemetry/instruments";
import { isWatched } from "@parley/shared/telemetry/spans";
import type { Proof } from "../transport/sip/challenger.ts";

const calls = counter("parley.sip.calls", "Calls that arrived by SIP, by the status of their answer");
const digests = counter("parley.sip.digests", "Credentials that SIP callers have shown, by result");

const STATUSES = [200, 400, 401, 403, 404, 415, 416, 420, 422, 480, 486, 487, 488, 500, 503];
const RESULTS = ["right", "wrong", "stale", "limited"] as const;

export function countAnswer(status: number): void {
  calls().add(1, { status });
}

/** @param result `limited`: not checked, because too many were wrong */
export function countDigest(result: Proof | "limited"): void {
  digests().add(1, { result });
}

/** Reports both from the start, because a counter that first appears at 1 has no rate to alert on. */
export function observeSip(): void {
  if (!isWatched()) return;
  for (const status of STATUSES) calls().add(0, { status });
  for (const result of RESULTS) digests().add(0, { result });
}
