import type { Database } from "@parley/shared/db/database";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { startSweeps, sweepQueues } from "@parley/shared/jobs/sweeps";
import { startWorker } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { UserAgent } from "../transport/sip/user-agent.ts";
import { type RegistrationContext, trunkRegistrations } from "./registrations.ts";
import { trunkServer } from "./trunk-server.ts";

export interface KeepRegisteredOptions extends Pick<RegistrationContext, "db" | "clock" | "accounts"> {
  /** A connection that receives notifications. */
  direct: Database;
  log: Logger;
  sip: Pick<UserAgent, "register">;
  /** Private hosts that may be trunks. */
  allow: AllowList;
}

/** Keeps owners' SIP trunks registered while this process runs, and leaves them to others when it stops. */
export async function keepTrunksRegistered(options: KeepRegisteredOptions): Promise<{ stop(): Promise<void> }> {
  const { db, clock, log, direct, sip, allow } = options;
  const stopping = new AbortController();
  const { queues, sweeps, handOver } = trunkRegistrations({
    ...options,
    register: sip.register,
    serverOf: (host, protocol) => trunkServer(host, protocol, allow),
  });
  const all = { ...queues, ...sweepQueues(clock, log, sweeps, stopping.signal) };
  const worker = startWorker(db, all, log, { clock, direct });
  await startSweeps(db, clock, sweeps);
  return {
    stop: async () => {
      stopping.abort();
      await worker.stop();
      await handOver().catch((err) =>
        log.warn({ err }, "trunks could not be handed over, so they register again only when they are due"),
      );
    },
  };
}
