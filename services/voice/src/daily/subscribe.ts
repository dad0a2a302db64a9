import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { dailyWebhookUrl } from "@parley/shared/carriers/urls";
import type { Queue } from "@parley/shared/jobs/worker";
import type { DailyContext } from "./context.ts";
import { EVENTS } from "./handle-webhook.ts";

/** Over five minutes. */
const RETRIES_MAX = 15;

/**
 * Subscribes to Daily's webhooks: once for each domain, and again after Daily has given up. Without them, sessions work, but more
 * slowly.
 */
export function subscribe({ connections, publicUrl, log }: DailyContext): Queue {
  return {
    concurrency: 4,
    run: async ({ ownerId, payload, attempts }) => {
      const { connection: name } = payload as { connection: string };
      const connection = await connections.get(ownerId, name);
      if (!connection) return;
      const webhook = {
        url: dailyWebhookUrl(publicUrl, name),
        secret: connection.webhookSecret,
        events: EVENTS,
      };
      try {
        await connection.api.subscribe(webhook);
      } catch (err) {
        if (!(err instanceof CarrierRefusal) && attempts < RETRIES_MAX) throw err;
        // The owner's next session tries again.
        log.warn({ err, owner_id: ownerId, connection: name }, "Daily sends no webhooks");
      }
    },
  };
}
