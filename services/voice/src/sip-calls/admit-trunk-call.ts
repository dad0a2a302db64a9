import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { isListed } from "@parley/shared/egress/address";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Invite } from "../transport/sip/answering.ts";
import type { Target } from "../transport/sip/sockets.ts";
import { protocolOf } from "../trunks/trunk-server.ts";
import { numberOf } from "./numbers.ts";

export interface TrunkContext {
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "findTrunk">;
  /** The IP addresses of a host; empty if it has none or does not say so in time. */
  addressesOf(host: string): Promise<readonly string[]>;
}

/** The callee of a call over a trunk. */
interface TrunkCallee {
  /** E.164. */
  called: string;
  /** Whose trunk it is. */
  ofOwnerId: string;
}

const NO_TRUNK = { carrier: undefined, needsDigest: undefined };
const REALM = "parley";

/**
 * Admits a call that comes from the trunk of the called number: from an address of the trunk, or with the trunk's credentials.
 * Everyone else is asked for credentials for every number, so strangers do not learn which numbers exist.
 * @returns null if the call was refused
 */
export async function admitTrunkCall(ctx: TrunkContext, invite: Invite): Promise<TrunkCallee | null> {
  // A trunk that we registered with may call the name of the registration, with the number in To.
  const called = numberOf(invite.called) ?? numberOf(invite.to);
  const { carrier, needsDigest } = called === null ? NO_TRUNK : await ctx.accounts.findTrunk({ mobileNumber: called });
  const settings = carrier?.settings;
  const isFromTrunk =
    settings !== undefined &&
    !needsDigest &&
    isTransportOf(settings, invite.source) &&
    (await isAddressOf(ctx, settings, invite.source.address));
  if (!isFromTrunk && !invite.hasShown({ realm: REALM, ...credentialsOf(settings) })) return null;
  return carrier && called !== null ? { called, ofOwnerId: carrier.ownerId } : null;
}

/** The sender of a datagram is easily forged, so an address alone proves nothing for a trunk that has connections. */
function isTransportOf({ transport }: CarrierSettings, { protocol }: Target): boolean {
  const own = protocolOf(transport);
  return own === "UDP" || protocol === "TLS" || protocol === own;
}

async function isAddressOf(
  { addressesOf }: TrunkContext,
  { allowedAddresses, host = "" }: CarrierSettings,
  source: string,
): Promise<boolean> {
  // The form of an IPv4 address on a socket for both families.
  const address = source.replace(/^::ffff:(?=\d+\.)/i, "");
  return isListed(address, allowedAddresses.length > 0 ? allowedAddresses : await addressesOf(hostNameOf(host)));
}

function hostNameOf(host: string): string {
  return host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
}

/** No caller can have the credentials of a trunk without any. */
function credentialsOf(settings: CarrierSettings | undefined): { username: string; password: string } {
  const { username, password } = settings ?? {};
  return username && password ? { username, password } : { username: "", password: crypto.randomUUID() };
}
