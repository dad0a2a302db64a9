import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { dailyWebhookSecret } from "@parley/shared/carriers/signatures";
import { nullIfNotFound } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { type DailyApi, dailyApi } from "./rest.ts";

/** The name of the operator's own Daily domain. */
const OPERATOR = "operator";

/** A Daily domain that sessions may use. */
export interface DailyConnection {
  /** car_…, or OPERATOR. */
  connection: string;
  /** Null for the operator's, which serves every owner. */
  ownerId: string | null;
  api: DailyApi;
  /** The secret that signs Daily's webhooks, in base64. */
  webhookSecret: string;
}

export interface DailyConnections {
  /** The owner's own, or else the operator's; null if there is neither. */
  find(ownerId: string): Promise<DailyConnection | null>;
  /** Finds a connection by its name; null if the owner no longer has it. */
  get(ownerId: string, connection: string): Promise<DailyConnection | null>;
  /** Whether webhooks may name this connection. Costs less than `ofWebhook`, which reads its key. */
  has(connection: string): Promise<boolean>;
  /** Finds a connection by its name alone, because a webhook has nothing else. */
  ofWebhook(connection: string): Promise<DailyConnection | null>;
}

interface ConnectionSettings {
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "listCarriers" | "getCarrierCredentials" | "findCarrier">;
  baseUrl: string;
  /** PARLEY_DAILY_API_KEY; "" for none. */
  operatorKey: string;
}

/** The keys are read each time, so a change takes effect at once. */
export function dailyConnections({ accounts, baseUrl, operatorKey }: ConnectionSettings): DailyConnections {
  const connect = (connection: string, ownerId: string | null, apiKey: string): DailyConnection => ({
    connection,
    ownerId,
    api: dailyApi({ baseUrl, apiKey }),
    webhookSecret: dailyWebhookSecret(apiKey, connection),
  });
  const ofOperator = () => (operatorKey === "" ? null : connect(OPERATOR, null, operatorKey));

  const ofOwner = async (ownerId: string, carrierId: string): Promise<DailyConnection | null> => {
    const asked = { ownerId, carrierId, evenDisconnected: false };
    const carrier = (await accounts.getCarrierCredentials(asked).catch(nullIfNotFound))?.carrier;
    const apiKey = carrier?.settings?.apiKey;
    return carrier?.provider === "DAILY" && apiKey ? connect(carrierId, ownerId, apiKey) : null;
  };

  /** Null if there is no Daily connection of an owner with this id. */
  const ownerOf = async (carrierId: string): Promise<string | null> => {
    const { carrier } = await accounts.findCarrier({ carrierId });
    return carrier?.provider === "DAILY" ? carrier.ownerId : null;
  };

  return {
    find: async (ownerId) => {
      const { carriers } = await accounts.listCarriers({ ownerId });
      const own = carriers.findLast(({ provider }) => provider === "DAILY");
      return (own && (await ofOwner(ownerId, own.carrierId))) ?? ofOperator();
    },
    get: async (ownerId, connection) => (connection === OPERATOR ? ofOperator() : ofOwner(ownerId, connection)),
    has: async (connection) => (connection === OPERATOR ? operatorKey !== "" : (await ownerOf(connection)) !== null),
    ofWebhook: async (connection) => {
      if (connection === OPERATOR) return ofOperator();
      const ownerId = await ownerOf(connection);
      return ownerId === null ? null : ofOwner(ownerId, connection);
    },
  };
}
