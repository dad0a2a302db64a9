import type { Carrier } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { nullIfNotFound } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";

/** A WhatsApp number that an owner has connected, with its secrets. */
export interface WhatsAppConnection {
  ownerId: string;
  carrierId: string;
  phoneNumberId: string;
  accessToken: string;
  appSecret: string;
  verifyToken: string;
  /** E.164. */
  mobileNumber: string;
  /** The agent that answers, if the connection names one. */
  agentId: string | undefined;
}

export interface Connections {
  /** Whether there is a WhatsApp connection with this id. Costs less than `find`, which reads its secrets. */
  has(carrierId: string): Promise<boolean>;
  /** Null if there is no WhatsApp connection with this id. */
  find(carrierId: string): Promise<WhatsAppConnection | null>;
  get(ownerId: string, carrierId: string): Promise<WhatsAppConnection | null>;
  /**
   * The owner's connections of these numbers, by `phoneNumberId`, without those that the owner has not connected: all numbers of
   * an app have one address for callbacks.
   */
  ofNumbers(ownerId: string, phoneNumberIds: ReadonlySet<string>): Promise<Map<string, WhatsAppConnection>>;
  /** The number that an agent writes from; null if it has none. */
  ofAgent(ownerId: string, agentId: string): Promise<WhatsAppConnection | null>;
  /** The agent that answers: the connection's own, or the one that has its number. Null if there is none. */
  agentOf(connection: WhatsAppConnection): Promise<string | null>;
}

type Accounts = Pick<
  ServiceClient<typeof AccountServiceService>,
  "findCarrier" | "getCarrierCredentials" | "listCarriers"
>;
type Agents = Pick<ServiceClient<typeof AgentServiceService>, "findCallee">;

/** Asks each time, so that a number whose owner has disconnected it stops at once. */
export function connections(accounts: Accounts, agents: Agents): Connections {
  async function get(ownerId: string, carrierId: string): Promise<WhatsAppConnection | null> {
    const asked = { ownerId, carrierId, evenDisconnected: false };
    const carrier = (await accounts.getCarrierCredentials(asked).catch(nullIfNotFound))?.carrier;
    return carrier ? connectionOf(carrier) : null;
  }

  async function first(ownerId: string, isWanted: (carrier: Carrier) => boolean | Promise<boolean>) {
    const { carriers } = await accounts.listCarriers({ ownerId });
    for (const carrier of carriers) {
      if (carrier.provider === "WHATSAPP" && (await isWanted(carrier))) return get(ownerId, carrier.carrierId);
    }
    return null;
  }

  /** Another owner's agents may have the number too, and change nothing. */
  async function agentWithNumber(ownerId: string, mobileNumber: string): Promise<string | null> {
    const { agent } = await agents.findCallee({ called: mobileNumber, ofOwnerId: ownerId });
    return agent?.agentId ?? null;
  }

  /** Null if there is no WhatsApp connection with this id. */
  async function ownerOf(carrierId: string): Promise<string | null> {
    const { carrier } = await accounts.findCarrier({ carrierId });
    return carrier?.provider === "WHATSAPP" ? carrier.ownerId : null;
  }

  return {
    has: async (carrierId) => (await ownerOf(carrierId)) !== null,
    find: async (carrierId) => {
      const ownerId = await ownerOf(carrierId);
      return ownerId === null ? null : get(ownerId, carrierId);
    },
    get,
    ofNumbers: async (ownerId, phoneNumberIds) => {
      const found = new Map<string, WhatsAppConnection>();
      const { carriers } = await accounts.listCarriers({ ownerId });
      for (const { provider, carrierId, settings } of carriers) {
        const phoneNumberId = settings?.phoneNumberId ?? "";
        if (provider !== "WHATSAPP" || !phoneNumberIds.has(phoneNumberId) || found.has(phoneNumberId)) continue;
        const connection = await get(ownerId, carrierId);
        if (connection) found.set(phoneNumberId, connection);
      }
      return found;
    },
    ofAgent: (ownerId, agentId) =>
      first(ownerId, async ({ settings }) => {
        if (settings?.agentId) return settings.agentId === agentId;
        return (await agentWithNumber(ownerId, settings?.mobileNumber ?? "")) === agentId;
      }),
    agentOf: async ({ ownerId, agentId, mobileNumber }) => agentId ?? agentWithNumber(ownerId, mobileNumber),
  };
}

function connectionOf({ ownerId, carrierId, provider, settings }: Carrier): WhatsAppConnection | null {
  if (provider !== "WHATSAPP" || !settings) return null;
  return {
    ownerId,
    carrierId,
    phoneNumberId: settings.phoneNumberId ?? "",
    accessToken: settings.accessToken ?? "",
    appSecret: settings.appSecret ?? "",
    verifyToken: settings.verifyToken ?? "",
    mobileNumber: settings.mobileNumber ?? "",
    agentId: settings.agentId || undefined,
  };
}
