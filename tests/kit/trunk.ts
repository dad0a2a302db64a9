import type { Accounts } from "./test-owner.ts";

/** Gives an owner a number over a SIP trunk. @param host the trunk's address; by default, nothing listens there */
export async function addTrunkNumber(
  accounts: Accounts,
  ownerId: string,
  mobileNumber: string,
  host = "127.0.0.1:9",
): Promise<void> {
  const settings = { host, transport: "UDP", allowedAddresses: [] };
  const { carrier } = await accounts.connectCarrier({
    ownerId,
    provider: "SIP",
    settings: { ...NOTHING, ...settings },
  });
  await accounts.importCarrierNumber({ ownerId, carrierId: carrier?.carrierId ?? "", mobileNumber });
}

const NOTHING = {
  accountSid: undefined,
  authId: undefined,
  authToken: undefined,
  username: undefined,
  password: undefined,
  apiKey: undefined,
  phoneNumberId: undefined,
  accessToken: undefined,
  appSecret: undefined,
  verifyToken: undefined,
  mobileNumber: undefined,
  agentId: undefined,
};
