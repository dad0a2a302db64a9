import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { NotConnected } from "../call/port.ts";
import { asServiceError } from "../call/transcript.ts";
import type { DialSip } from "../sip-calls/dial-sip.ts";
import { protocolOf } from "../trunks/trunk-server.ts";
import type { DialTrunk } from "./context.ts";

/** Dials over the SIP trunks that owners have connected. */
export function trunkDialer(
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "getCarrierCredentials">,
  dialSip: DialSip,
): DialTrunk {
  return async (call, ringing, ...connect) => {
    const key = { ownerId: call.ownerId, carrierId: call.carrierId, evenDisconnected: false };
    const { carrier } = await accounts.getCarrierCredentials(key).catch((error) => {
      const { kind, detail } = asServiceError(error);
      throw new NotConnected(kind === "not_found" ? "failed" : "unreached", detail);
    });
    const { host, transport, username, password } = carrier?.settings ?? {};
    if (!host) throw new NotConnected("failed", "The number's SIP trunk is no longer connected");
    return dialSip(
      {
        ownerId: call.ownerId,
        user: call.toMobileNumber,
        host,
        protocol: protocolOf(transport),
        from: call.fromMobileNumber,
        credentials: username ? { username, password: password ?? "" } : undefined,
        ringSeconds: call.ringSeconds,
        ringing,
      },
      ...connect,
    );
  };
}
