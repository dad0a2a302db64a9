import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Handlers } from "@parley/shared/rpc/server";
import { forgetJob } from "../owners/forget-owner.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["forgetOwner"]>;

export function forgetOwner({ db, clock }: { db: Database; clock: Clock }): Handler {
  return async ({ ownerId }) => {
    await enqueueJob(db, forgetJob(ownerId, clock.now()));
    return {};
  };
}
