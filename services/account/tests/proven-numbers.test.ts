import { afterAll, expect, test } from "bun:test";
import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { type SpeakToNumberRequest, VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { failureOf } from "@parley/testkit/failures";
import { twilioApi } from "@parley/testkit/stand-ins/carriers/twilio-api";
import postgres from "postgres";
import { newOwner, startTestAccount } from "./kit.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const OPERATOR = newId("own");
const LINE = "+14155550500";

const spoken: SpeakToNumberRequest[] = [];
let operator: string;
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => twilio.fetch(request) });
const twilio = twilioApi();
const speakToNumber = async (request: SpeakToNumberRequest) => {
  spoken.push(request);
  return {};
};
const voice = await serve(VoiceServiceService, { speakToNumber }, { address: "127.0.0.1:0", log: silentLogger });
const account = await startTestAccount({
  PARLEY_VOICE_ADDRESS: voice.address,
  PARLEY_PUBLIC_URL: "https://api.acme.example",
  PARLEY_TWILIO_BASE_URL: server.url.origin,
  PARLEY_CODE_CALLS_OWNER: OPERATOR,
});
afterAll(async () => {
  await account.stop();
  await voice.stop();
  await server.stop(true);
});

let accounts = 0;
const connect = (ownerId: string, provider: string, given: Partial<CarrierSettings>) =>
  account.client
    .connectCarrier({ ownerId, provider, settings: { allowedAddresses: [], ...given } })
    .then(({ carrier }) => ({ ownerId, carrierId: carrier?.carrierId ?? "" }));

/** Connects a Twilio account that has the numbers. */
async function twilioOf(ownerId: string, ...numbers: string[]) {
  const accountSid = `AC${(accounts++).toString(16).padStart(32, "0")}`;
  twilio.addAccount({ accountSid, authToken: TOKEN, numbers: Object.fromEntries(numbers.map((each) => [each, {}])) });
  return connect(ownerId, "TWILIO", { accountSid, authToken: TOKEN });
}

/** A trunk of a host of its own. */
const trunkOf = (ownerId: string, given: Partial<CarrierSettings> = {}) =>
  connect(ownerId, "SIP", { host: `trunk-${accounts++}.example`, ...given });

const owner = async () => (await newOwner(account.client)).ownerId;
const numbersOf = async (ownerId: string) => (await account.client.listMobileNumbers({ ownerId })).mobileNumbers;
const conflict = (mobileNumber: string) => ({
  kind: "conflict",
  detail: `mobile_number ${mobileNumber} belongs to another owner`,
});

test.each([
  [
    "added",
    (ownerId: string, mobileNumber: string) =>
      account.client.addMobileNumber({ ownerId, mobileNumber: { mobileNumber, telephonyProvider: "TWILIO" } }),
  ],
  [
    "imported from a trunk",
    async (ownerId: string, mobileNumber: string) =>
      account.client.importCarrierNumber({ ...(await trunkOf(ownerId)), mobileNumber }),
  ],
] as const)(
  "a number that another owner has only %s is imported by the owner whose carrier has it, and both are told",
  async (how, claim) => {
    const mobileNumber = `+1415555051${how.length % 10}`;
    const [squatter, true_] = [await owner(), await owner()];
    await claim(squatter, mobileNumber);
    expect(await numbersOf(squatter)).toMatchObject([{ mobileNumber, provenBy: undefined, replacedAt: undefined }]);
    await account.client.importCarrierNumber({ ...(await twilioOf(true_, mobileNumber)), mobileNumber });
    expect(await numbersOf(true_)).toMatchObject([{ mobileNumber, provenBy: "CARRIER", replacesAt: expect.any(Date) }]);
    expect(await numbersOf(squatter)).toMatchObject([{ mobileNumber, replacedAt: expect.any(Date) }]);

    const { carrier } = await account.client.findCarrierOfNumber({ ownerId: squatter, mobileNumber });
    expect(carrier).toBeUndefined();
    expect(await account.client.findTrunk({ mobileNumber })).toEqual({ carrier: undefined });
    expect(await failureOf(Promise.resolve(claim(squatter, mobileNumber)))).toMatchObject(conflict(mobileNumber));
    await account.client.removeMobileNumber({ ownerId: squatter, mobileNumber });
    expect(await numbersOf(squatter)).toEqual([]);
  },
);

test("a proven number is neither claimed nor proven again by another owner, except by the operator's word", async () => {
  const mobileNumber = "+14155550520";
  const [one, other] = [await owner(), await owner()];
  await account.client.importCarrierNumber({ ...(await twilioOf(one, mobileNumber)), mobileNumber });
  const second = await twilioOf(other, mobileNumber);
  expect(await failureOf(account.client.importCarrierNumber({ ...second, mobileNumber }))).toMatchObject(
    conflict(mobileNumber),
  );
  const proven = await account.client.proveMobileNumber({ ownerId: other, mobileNumber });
  expect(proven.mobileNumber).toMatchObject({ provenBy: "OPERATOR", replacesAt: expect.any(Date) });
  expect(await numbersOf(one)).toMatchObject([{ replacedAt: expect.any(Date), provenBy: undefined }]);
  await account.client.importCarrierNumber({ ...second, mobileNumber });
  expect(await numbersOf(other)).toMatchObject([{ mobileNumber, carrierId: second.carrierId, provenBy: "CARRIER" }]);
});

test("a code that a call tells at the number proves whose it is, and the trunk's import keeps the proof", async () => {
  const mobileNumber = "+14155550530";
  const [squatter, true_] = [await owner(), await owner()];
  await account.client.importCarrierNumber({ ...(await trunkOf(squatter)), mobileNumber });
  const trunk = await trunkOf(true_);
  expect(await failureOf(account.client.importCarrierNumber({ ...trunk, mobileNumber }))).toMatchObject(
    conflict(mobileNumber),
  );
  const code = await calledWith(true_, mobileNumber);
  expect(spoken.at(-1)).toMatchObject({ ownerId: operator, fromMobileNumber: LINE, toMobileNumber: mobileNumber });
  const confirm = (ownerId: string, given: string) =>
    account.client.confirmCode({ ownerId, mobileNumber, code: given });
  for (const wrong of [otherThan(code), "", "12345a"])
    expect(await failureOf(confirm(true_, wrong))).toMatchObject({ kind: "invalid", violations: [{ path: "code" }] });
  expect(await failureOf(confirm(squatter, code))).toMatchObject({ kind: "invalid" });
  expect((await confirm(true_, code)).mobileNumber).toMatchObject({ provenBy: "CODE", replacesAt: expect.any(Date) });
  expect(await failureOf(confirm(true_, code))).toMatchObject({ kind: "invalid" });
  await account.client.importCarrierNumber({ ...trunk, mobileNumber });
  expect(await numbersOf(true_)).toMatchObject([{ carrierId: trunk.carrierId, provenBy: "CODE" }]);
  expect((await account.client.findTrunk({ mobileNumber })).carrier?.ownerId).toBe(true_);
});

test("a code expires after ten minutes and five wrong tries, and is told five times a day at one number", async () => {
  const mobileNumber = "+14155550540";
  const ownerId = await owner();
  const confirm = (code: string) => account.client.confirmCode({ ownerId, mobileNumber, code });
  const late = await calledWith(ownerId, mobileNumber);
  account.clock.advance(10 * 60_000);
  expect(await failureOf(confirm(late))).toMatchObject({ kind: "invalid" });
  const guessed = await calledWith(ownerId, mobileNumber);
  for (let tries = 0; tries < 5; tries++) await failureOf(confirm(otherThan(guessed)));
  expect(await failureOf(confirm(guessed))).toMatchObject({ kind: "invalid" });
  for (let calls = 2; calls < 5; calls++) await calledWith(await owner(), mobileNumber);
  expect(await failureOf(calledWith(await owner(), mobileNumber))).toMatchObject({ kind: "rate_limited" });
  account.clock.advance(24 * 60 * 60_000);
  expect((await confirm(await calledWith(ownerId, mobileNumber))).mobileNumber).toMatchObject({ provenBy: "CODE" });
});

test.each(["0.0.0.0/0", "128.0.0.0/1", "203.0.0.0/8", "198.51.0.0/19", "::/0", "2001:db8::/32"])(
  "a trunk is refused whose calls may come from all of %s",
  async (range) => {
    const failure = await failureOf(trunkOf(await owner(), { allowedAddresses: ["192.0.2.77", range] }));
    expect(failure).toMatchObject({ kind: "invalid", violations: [{ path: "allowed_addresses.1" }] });
  },
);

test("a second owner's trunk with an address of the first's is refused, unless it authenticates", async () => {
  const [first, second] = [await owner(), await owner()];
  const credentials = { username: "acme", password: "of-the-trunk" };
  await trunkOf(first, { allowedAddresses: ["203.0.113.0/24"] });
  // The owner's own trunks may share one.
  await trunkOf(first, { allowedAddresses: ["203.0.113.9"] });
  for (const range of ["203.0.113.77", "203.0.112.0/23"]) {
    const failure = failureOf(trunkOf(second, { allowedAddresses: [range] }));
    expect(await failure).toMatchObject({ kind: "conflict", detail: expect.stringContaining("a username") });
  }
  const trunk = await trunkOf(second, { allowedAddresses: ["203.0.113.77"], ...credentials });
  const mobileNumber = "+14155550550";
  await account.client.importCarrierNumber({ ...trunk, mobileNumber });
  expect(await account.client.findTrunk({ mobileNumber })).toMatchObject({ needsDigest: true });
  await account.client.proveMobileNumber({ ownerId: second, mobileNumber });
  expect((await account.client.findTrunk({ mobileNumber })).needsDigest).toBeUndefined();
});

test("of two owners' trunks at one host, an address admits only proven numbers to the later one", async () => {
  const [first, second] = [await owner(), await owner()];
  const [one, two] = [
    await connect(first, "SIP", { host: "shared.example" }),
    await connect(second, "SIP", { host: "Shared.example:5070" }),
  ];
  await account.client.importCarrierNumber({ ...one, mobileNumber: "+14155550560" });
  await account.client.importCarrierNumber({ ...two, mobileNumber: "+14155550561" });
  const needsDigest = async (mobileNumber: string) => (await account.client.findTrunk({ mobileNumber })).needsDigest;
  expect([await needsDigest("+14155550560"), await needsDigest("+14155550561")]).toEqual([undefined, true]);
});

/** Has a number called, by the operator's line. @returns the code that is told */
async function calledWith(ownerId: string, mobileNumber: string): Promise<string> {
  operator ??= await operatorsOwner();
  const before = spoken.length;
  await account.client.callWithCode({ ownerId, mobileNumber });
  expect(spoken).toHaveLength(before + 1);
  return /Your code is ([\d, ]+)\./.exec(spoken.at(-1)?.sentence ?? "")?.[1]?.replaceAll(", ", "") ?? "";
}

const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

/** Gives the owner whom the service was started with a Twilio number. */
async function operatorsOwner(): Promise<string> {
  const { ownerId } = await newOwner(account.client);
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  await sql`
    insert into owners select copy.* from owners, jsonb_populate_record(null::owners,
      to_jsonb(owners) || jsonb_build_object('owner_id', ${OPERATOR}::text, 'email', 'operator@example.com')) as copy
    where owners.owner_id = ${ownerId}`;
  await sql.end();
  await account.client.importCarrierNumber({ ...(await twilioOf(OPERATOR, LINE)), mobileNumber: LINE });
  return OPERATOR;
}
