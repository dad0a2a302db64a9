import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Clock } from "@parley/shared/clock";
import { createEgress } from "@parley/shared/egress/egress";
import type { WorkerSettings } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import { createSealer } from "@parley/shared/sealing";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import type { Pace } from "@parley/shared/shares/pace";
import { acceptor } from "./accept.ts";
import { boundedAcceptance } from "./accept-bounds.ts";
import { boundedLogQueue } from "./bounded-log.ts";
import type { DispatcherConfig } from "./config.ts";
import type { DispatcherContext } from "./context.ts";
import { longPayloadShares } from "./delivery/payloads.ts";
import { deliveryQueue } from "./delivery/queue.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { batchAcceptEvents } from "./rpc/batch-accept-events.ts";
import { countDeliveries } from "./rpc/count-deliveries.ts";
import { createDestination } from "./rpc/create-destination.ts";
import { deleteDestination } from "./rpc/delete-destination.ts";
import { forgetConversations } from "./rpc/forget-conversations.ts";
import { forgetOwner } from "./rpc/forget-owner.ts";
import { getDelivery } from "./rpc/get-delivery.ts";
import { listDeliveries } from "./rpc/list-deliveries.ts";
import { listDestinations } from "./rpc/list-destinations.ts";
import { resendDelivery } from "./rpc/resend-delivery.ts";
import { resendFailedDeliveries } from "./rpc/resend-failed-deliveries.ts";
import { rotateSecret } from "./rpc/rotate-secret.ts";
import { sendTestEvent } from "./rpc/send-test-event.ts";
import { updateDestination } from "./rpc/update-destination.ts";
import { oldDeliveries } from "./sweep.ts";
import { wantedQueue } from "./wanted/tell-wanted.ts";

interface DispatcherSettings extends Pick<WorkerSettings, "pollMs"> {
  clock?: Clock;
  shares?: ByteShares;
  costly?: Pace;
}

/**
 * @param pollMs polling interval of the job worker, for tests with a fake clock
 * @param shares memory for long payloads, for tests that measure it
 * @param costly pace of attempts to destinations whose last one failed or got a long response, for tests that hold them up
 */
export function startDispatcher(
  config: DispatcherConfig,
  log: Logger,
  { clock: given, pollMs, shares = longPayloadShares(), costly }: DispatcherSettings = {},
): Promise<Running> {
  return startService(
    {
      name: "webhook-dispatcher",
      definition: WebhookDispatcherServiceService,
      migrations: MIGRATIONS,
      clock: given,
      pollMs,
      build: ({ db, clock, stopping, connect }) => {
        const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
        const egress = createEgress({ allow: config.PARLEY_ALLOWED_PRIVATE_HOSTS });
        const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
        const ctx: DispatcherContext = {
          db,
          clock,
          sealer,
          allowedHosts: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
          conversations,
        };
        const accept = acceptor(db, clock.now);
        const within = boundedAcceptance();
        const deliveries = deliveryQueue({
          db,
          sealer,
          shares,
          ...(costly && { costly }),
          sender: { ask: egress.ask, timeoutMs: config.PARLEY_WEBHOOK_TIMEOUT_MS, clock, log },
          retryMs: config.PARLEY_WEBHOOK_RETRY_MS,
          leaseMs: config.PARLEY_WEBHOOK_LEASE_MS,
          turnMs: config.PARLEY_WEBHOOK_TURN_MS,
        });
        // Lanes hold their jobs for their whole turns, so they end before the jobs are waited for.
        stopping.addEventListener("abort", deliveries.stop);
        return [
          {
            handlers: {
              batchAcceptEvents: batchAcceptEvents(accept, within),
              forgetConversations: forgetConversations(ctx),
              countDeliveries: countDeliveries(ctx),
              forgetOwner: forgetOwner(ctx),
              createDestination: createDestination(ctx),
              listDestinations: listDestinations(ctx),
              updateDestination: updateDestination(ctx),
              deleteDestination: deleteDestination(ctx),
              rotateSecret: rotateSecret(ctx),
              sendTestEvent: sendTestEvent(ctx),
              listDeliveries: registered(listDeliveries(ctx), { isList: true }),
              getDelivery: getDelivery(ctx),
              resendDelivery: resendDelivery(ctx),
              resendFailedDeliveries: resendFailedDeliveries(ctx),
            },
            queues: {
              ...deliveries.queues,
              ...wantedQueue(ctx),
              ...forgetOwners(db),
              ...boundedLogQueue({ db, log, bytesMax: config.PARLEY_EVENTS_OWNER_BYTES }),
            },
            sweeps: [oldDeliveries(db)],
            stop: egress.close,
          },
        ];
      },
    },
    config,
    log,
  );
}
