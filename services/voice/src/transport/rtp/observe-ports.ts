import { meter } from "@parley/shared/telemetry/instruments";
import { isWatched } from "@parley/shared/telemetry/spans";
import type { PortRange } from "./ports.ts";

/**
 * Reports, whenever metrics are read, how many calls this process holds and how many its ports for audio allow. Replicas are added by
 * these: calls run out of ports before they run out of CPU. @returns a function that stops this
 */
export function observePorts(underWay: () => number, { first, last }: PortRange): () => void {
  if (!isWatched()) return () => {};
  const calls = meter().createObservableGauge("parley.calls.under_way", {
    description: "Calls that this process holds",
  });
  const ports = meter().createObservableGauge("parley.rtp.ports", {
    description: "UDP ports for audio; a call needs one",
  });
  const countCalls: Parameters<typeof calls.addCallback>[0] = (result) => result.observe(underWay());
  const countPorts: Parameters<typeof ports.addCallback>[0] = (result) => result.observe(last - first + 1);
  calls.addCallback(countCalls);
  ports.addCallback(countPorts);
  return () => {
    calls.removeCallback(countCalls);
    ports.removeCallback(countPorts);
  };
}
