import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import { createEgress } from "@parley/shared/egress/egress";
import type { WorkerSettings } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { openChannels } from "./channels/channels.ts";
import type { MessagingConfig } from "./config.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { threads } from "./threads/threads.ts";

interface MessagingSettings extends Pick<WorkerSettings, "pollMs"> {
  clock?: Clock;
}

/** @param settings a clock, and the polling interval of the job worker, for tests with a fake clock */
export function startMessaging(
  config: MessagingConfig,
  log: Logger,
  { clock: given, pollMs }: MessagingSettings = {},
): Promise<Running> {
  return startService(
    {
      name: "messaging",
      definition: MessagingServiceService,
      migrations: MIGRATIONS,
      clock: given,
      pollMs,
      build: ({ db, clock, connect, stopping }) => {
        const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
        const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
        const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
        const voices = connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS);
        const egress = createEgress({ allow: [] });
        const ctx = { db, agents, conversations, clock, log };
        const channels = openChannels(config, { ...ctx, accounts, guardedFetch: egress.fetch });
        const threaded = channels.flatMap((channel) => channel.threaded ?? []);
        return [
          threads({ ...ctx, voices }, threaded, stopping),
          ...channels,
          forgetOwners(ctx),
          { stop: egress.close },
        ];
      },
    },
    config,
    log,
  );
}
