import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handlers } from "@parley/shared/rpc/server";
import { hasCallsToEnd } from "../store/owner-rows.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["forgetOwner"]>;

export function forgetOwner({ db, clock }: { db: Database; clock: Clock }): Handler {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return { needsCarriers: await hasCallsToEnd(db, ownerId) };
  };
}
