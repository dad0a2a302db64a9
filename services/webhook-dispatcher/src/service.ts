import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { startService } from "@parley/shared/service";
import type { DispatcherConfig } from "./config.ts";

/** Serves the protocol; every method answers UNIMPLEMENTED so far. */
export function startDispatcher(config: DispatcherConfig, log: Logger): Promise<Running> {
  return startService(
    {
      name: "webhook-dispatcher",
      definition: WebhookDispatcherServiceService,
      migrations: [],
      build: () => ({ handlers: {} }),
    },
    config,
    log,
  );
}
