import {
  type Delivery,
  DeliveryStatus,
  type Destination,
  RequestType,
} from "@parley/proto/parley/webhook/v1/webhook.ts";
import {
  CreateDestinationRequest,
  ListDeliveriesRequest,
  type OwnerEvent,
  WebhookDispatcherServiceService,
} from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { newId, newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { createTestDatabase, FEW_CONNECTIONS, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import postgres from "postgres";
import { readDispatcherConfig } from "../src/config.ts";
import { startDispatcher } from "../src/service.ts";

export type DispatcherClient = ServiceClient<typeof WebhookDispatcherServiceService>;

export const {
  REQUEST_TYPE_UNSPECIFIED: UNSPECIFIED,
  REQUEST_TYPE_GET: GET,
  REQUEST_TYPE_POST: POST,
  REQUEST_TYPE_PATCH: PATCH,
  REQUEST_TYPE_PUT: PUT,
} = RequestType;

export const {
  DELIVERY_STATUS_UNSPECIFIED: ANY,
  DELIVERY_STATUS_PENDING: PENDING,
  DELIVERY_STATUS_DELIVERED: DELIVERED,
  DELIVERY_STATUS_FAILED: FAILED,
  DELIVERY_STATUS_CANCELLED: CANCELLED,
} = DeliveryStatus;

export interface TestDispatcher {
  client: DispatcherClient;
  /** The dispatcher's tables. */
  sql: postgres.Sql;
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** May deliver to loopback, and retries at once. */
export const TEST_ENV = {
  PARLEY_ENCRYPTION_KEY: TEST_SECRET,
  // Told only by destinations that want more than the ends of conversations.
  PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
  PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  PARLEY_WEBHOOK_RETRY_MS: "1",
};

/** The service on a port and a database of its own, polling often. */
export async function startTestDispatcher(
  given: Record<string, string> = {},
  settings: Parameters<typeof startDispatcher>[2] = {},
): Promise<TestDispatcher> {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.urls.webhook, ...FEW_CONNECTIONS, ...TEST_ENV, ...given };
  const sql = postgres(database.urls.webhook, { max: 1, onnotice: () => {} });
  const running = await startDispatcher(readDispatcherConfig(env), silentLogger, {
    pollMs: 50,
    ...settings,
  });
  const client = dispatcherClient(running.address);
  return {
    client,
    sql,
    env,
    stop: async () => {
      client.close();
      await running.stop();
      await sql.end();
      await database.drop();
    },
  };
}

export function dispatcherClient(address: string): DispatcherClient {
  return createClient(WebhookDispatcherServiceService, { peer: "webhook-dispatcher", address, timeoutMs: 30_000 });
}

/** A destination at `url`, enabled and POST unless told otherwise. */
export async function newDestination(
  client: DispatcherClient,
  url: string,
  given: Partial<CreateDestinationRequest> = {},
): Promise<Destination & { secret: string }> {
  const request = { ownerId: newOwner(), name: "CRM", url, requestType: POST, enabled: true, ...given };
  const { destination, secret } = await client.createDestination(CreateDestinationRequest.fromPartial(request));
  if (!destination) throw new Error("the response is empty");
  return { ...destination, secret };
}

export function newEvent(ownerId: string, given: Partial<OwnerEvent> = {}): OwnerEvent {
  const conversationId = newUuid();
  const event = "conversation.completed";
  const payload = JSON.stringify({ event, conversation_id: conversationId, notes: "Grüße & 100 % + more" });
  return { ownerId, eventId: newId("evt"), event, conversationId, payload, ...given };
}

/** Gives the dispatcher one event. @throws Error that says why, when it is refused */
export async function acceptEvent(client: DispatcherClient, event: OwnerEvent): Promise<void> {
  const { results } = await client.batchAcceptEvents({ events: [event] });
  if (results[0]?.refusal !== undefined) throw new Error(results[0].refusal);
}

export async function deliveriesOf(
  client: DispatcherClient,
  ownerId: string,
  given: Partial<ListDeliveriesRequest> = {},
): Promise<Delivery[]> {
  const page = { number: 1, size: 100 };
  const { deliveries } = await client.listDeliveries(ListDeliveriesRequest.fromPartial({ ownerId, page, ...given }));
  return deliveries;
}

/** The deliveries of an owner once none is pending anymore, newest first. */
export async function ended(client: DispatcherClient, ownerId: string, count = 1): Promise<Delivery[]> {
  return eventually(async () => {
    const deliveries = await deliveriesOf(client, ownerId);
    if (deliveries.length < count || deliveries.some(({ status }) => status === PENDING))
      throw new Error(`still pending: ${JSON.stringify(deliveries)}`);
    return deliveries;
  });
}
