import { RegistrationState, type TrunkRegistration } from "@parley/proto/parley/voice/v1/trunk.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { REGISTRATION_STATES } from "@parley/shared/domain/api-names";
import type { Handler } from "../feature.ts";
import { listTrunkRegistrations as listRows, type RegistrationRow } from "../store/trunk-registrations.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";

interface Context {
  db: Database;
  clock: Clock;
  /** Null if this installation has no SIP. */
  sip: Pick<UserAgent, "announced"> | null;
}

export function listTrunkRegistrations({ db, clock, sip }: Context): Handler<"listTrunkRegistrations"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    return {
      registrations: (await listRows(db, ownerId)).map((row) => toRegistration(row, now)),
      hasSip: sip !== null,
      sipAddress: sip?.announced?.address,
      sipTlsAddress: sip?.announced?.tlsAddress ?? undefined,
    };
  };
}

/** A registration that was not renewed must be made again. */
function toRegistration(
  { carrierId, state, since, expiresAt, sipStatus, reason }: RegistrationRow,
  now: Date,
): TrunkRegistration {
  if (expiresAt !== null && expiresAt < now) {
    const registering = RegistrationState.REGISTRATION_STATE_REGISTERING;
    return {
      carrierId,
      state: registering,
      since: expiresAt,
      expiresAt: undefined,
      reason: undefined,
      sipStatus: undefined,
    };
  }
  return {
    carrierId,
    state: REGISTRATION_STATES[state],
    since,
    expiresAt: expiresAt ?? undefined,
    sipStatus: sipStatus ?? undefined,
    reason: reason ?? undefined,
  };
}
