import type { Carrier as CarrierAccount } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { notFound } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { OutboundContext } from "../outbound/context.ts";
import type { Provider } from "../store/outbound-calls.ts";
import type { Carrier, CarriersOf } from "./carrier.ts";

type Accounts = ServiceClient<typeof AccountServiceService>;

/** The adapter of each provider that rings over its own API. */
export type Adapters = Readonly<Partial<Record<Provider, (account: CarrierAccount) => Carrier>>>;

/** Finds the carriers that owners have connected. The credentials are read each time, so a change takes effect at once. */
export function connectedCarriers(accounts: Pick<Accounts, "getCarrierCredentials">, adapters: Adapters): CarriersOf {
  return async (ownerId, carrierId, { hangsUp: evenDisconnected } = { hangsUp: false }) => {
    const { carrier } = await accounts.getCarrierCredentials({ ownerId, carrierId, evenDisconnected });
    const adapter = carrier && adapters[carrier.provider as Provider];
    if (!carrier || !adapter) throw notFound("Carrier");
    return adapter(carrier);
  };
}

/** Finds the carrier account of a number, if calls can be made over it: by an adapter, or a SIP trunk. */
export function carrierOfNumber(
  accounts: Pick<Accounts, "findCarrierOfNumber">,
  adapters: Adapters,
): OutboundContext["carrierOfNumber"] {
  return async (ownerId, mobileNumber) => {
    const { carrier } = await accounts.findCarrierOfNumber({ ownerId, mobileNumber });
    const provider = carrier?.provider as Provider | undefined;
    const isCallable = provider === "SIP" || (provider !== undefined && adapters[provider] !== undefined);
    return carrier && provider && isCallable ? { carrierId: carrier.carrierId, provider } : null;
  };
}
