import type { AllowList } from "@parley/shared/egress/allow-list";
import type { Logger } from "@parley/shared/log";
import type { VoiceFeature } from "../feature.ts";
import { listTrunkRegistrations } from "../rpc/list-trunk-registrations.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";
import { observeTrunks } from "./observe-trunks.ts";
import { type RegistrationContext, trunkRegistrations } from "./registrations.ts";
import { trunkServer } from "./trunk-server.ts";

interface TrunksContext extends Pick<RegistrationContext, "db" | "clock" | "accounts"> {
  log: Logger;
  /** Null if this installation has no SIP: nothing is registered. */
  sip: Pick<UserAgent, "register" | "announced"> | null;
  /** Private hosts that may be trunks. */
  allow: AllowList;
}

/** Keeps owners' SIP trunks registered while this process runs, and leaves them to others when it stops. */
export function trunks(ctx: TrunksContext) {
  const { db, clock, log, sip, allow } = ctx;
  const handlers = { listTrunkRegistrations: listTrunkRegistrations(ctx) };
  if (!sip) return { handlers } satisfies VoiceFeature;
  const { queues, sweeps, handOver } = trunkRegistrations({
    ...ctx,
    register: sip.register,
    serverOf: (host, protocol) => trunkServer(host, protocol, allow),
  });
  const unobserve = observeTrunks(db, clock);
  return {
    handlers,
    queues,
    sweeps,
    stop: () => {
      unobserve();
      return handOver().catch((err) =>
        log.warn({ err }, "trunks could not be handed over, so they register again only when they are due"),
      );
    },
  } satisfies VoiceFeature;
}
