import {
  type ForgetConversationsRequest,
  type OwnerEvent,
  WebhookDispatcherServiceService,
} from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { silentLogger } from "@parley/shared/log";
import { type RunningServer, serve } from "@parley/shared/rpc/server";

interface Counted {
  delivered: number;
  failed: number;
}

/** A webhook dispatcher that accepts or refuses events as a test says. */
export interface FakeDispatcher {
  address: string;
  /** All events that have arrived, accepted or not. */
  events: readonly OwnerEvent[];
  /** What it was told to forget, by call. */
  forgotten: readonly ForgetConversationsRequest[];
  /** What has come of every owner's deliveries. */
  deliveries(): Counted | Promise<Counted>;
  /** How events are answered from now on; throws to refuse them. */
  accept(event: OwnerEvent): unknown;
  /** `stop` and `start` take it away and back, at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startFakeDispatcher(): Promise<FakeDispatcher> {
  const events: OwnerEvent[] = [];
  const forgotten: ForgetConversationsRequest[] = [];
  let server: RunningServer;
  const listen = (address: string) =>
    serve(
      WebhookDispatcherServiceService,
      {
        batchAcceptEvents: async ({ events: given }) => {
          events.push(...given);
          return { results: await Promise.all(given.map(async (event) => ({ refusal: await refusalOf(event) }))) };
        },
        countDeliveries: async () => dispatcher.deliveries(),
        forgetConversations: async (request) => {
          forgotten.push(request);
          return {};
        },
      },
      { address, log: silentLogger, drainMs: 1 },
    );
  const refusalOf = async (event: OwnerEvent) => {
    try {
      await dispatcher.accept(event);
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  server = await listen("127.0.0.1:0");
  const dispatcher: FakeDispatcher = {
    address: server.address,
    events,
    forgotten,
    deliveries: () => ({ delivered: 0, failed: 0 }),
    accept: () => {},
    stop: () => server.stop(),
    start: async () => {
      server = await listen(dispatcher.address);
    },
  };
  return dispatcher;
}
