import { afterAll, expect, test } from "bun:test";
import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { plivoApi } from "@parley/testkit/stand-ins/carriers/plivo-api";
import { twilioApi } from "@parley/testkit/stand-ins/carriers/twilio-api";
import postgres from "postgres";
import { newKey, newOwner, startTestAccount } from "./kit.ts";

const PUBLIC_URL = "https://api.acme.example";
/** Whether a deleted owner has calls that the voice service has not hung up. */
let hasCalls = false;
/** How many requests carriers answer before they are down. */
let answersLeft = Number.POSITIVE_INFINITY;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    if (answersLeft-- <= 0) return new Response("", { status: 503 });
    if (pathname.startsWith("/2010-04-01")) return twilio.fetch(request);
    if (pathname.startsWith("/v1/Account")) return plivo.fetch(request);
    if (pathname.startsWith("/daily")) return daily(request);
    return whatsApp(request);
  },
});

const twilio = twilioApi();
const plivo = plivoApi();
const forgetOwner = async () => ({ needsCarriers: hasCalls });
const voice = await serve(VoiceServiceService, { forgetOwner }, { address: "127.0.0.1:0", log: silentLogger });
const account = await startTestAccount({
  PARLEY_VOICE_ADDRESS: voice.address,
  PARLEY_PUBLIC_URL: PUBLIC_URL,
  PARLEY_TWILIO_BASE_URL: server.url.origin,
  PARLEY_PLIVO_BASE_URL: server.url.origin,
  PARLEY_DAILY_BASE_URL: `${server.url.origin}/daily`,
  PARLEY_WHATSAPP_BASE_URL: `${server.url.origin}/v23.0`,
});
afterAll(async () => {
  await account.stop();
  await voice.stop();
  await server.stop(true);
});

function daily(request: Request): Response {
  if (request.headers.get("authorization") === "Bearer daily-key-of-acme")
    return Response.json({ domain_name: "acme" });
  return Response.json({ error: "authentication-error", info: "invalid api key" }, { status: 401 });
}

function whatsApp(request: Request): Response {
  const error = (status: number, code: number, message: string) =>
    Response.json({ error: { code, message } }, { status });
  if (request.headers.get("authorization") !== "Bearer EAAG-of-acme")
    return error(401, 190, "Invalid OAuth access token");
  if (!new URL(request.url).pathname.endsWith("/106540352242922"))
    return error(400, 100, "Unsupported get request. Object does not exist");
  return Response.json({ display_phone_number: "+1 415-555-0123", id: "106540352242922" });
}

const settings = (given: Partial<CarrierSettings>): CarrierSettings => ({ allowedAddresses: [], ...given });
const TOKEN = "0123456789abcdef0123456789abcdef";
let accounts = 0;

function newTwilio(numbers: Record<string, Record<string, string>> = {}): Partial<CarrierSettings> {
  const accountSid = `AC${(accounts++).toString(16).padStart(32, "0")}`;
  twilio.addAccount({ accountSid, authToken: TOKEN, numbers });
  return { accountSid, authToken: TOKEN };
}

function newPlivo(numbers: Record<string, string | null> = {}): Partial<CarrierSettings> {
  const authId = `MA${(accounts++).toString().padStart(18, "X")}`;
  const applications = { "77": { app_id: "77", app_name: "before", answer_url: "https://before.example/" } };
  plivo.addAccount({ authId, authToken: TOKEN, numbers, applications });
  return { authId, authToken: TOKEN };
}

async function connected(provider: string, given: Partial<CarrierSettings>, owner?: { ownerId: string }) {
  const { ownerId } = owner ?? (await newOwner(account.client));
  const { carrier } = await account.client.connectCarrier({ ownerId, provider, settings: settings(given) });
  if (!carrier) throw new Error("no carrier");
  return { ownerId, carrierId: carrier.carrierId };
}

test("a connected account shows its secrets masked, and as they are to the services that use them", async () => {
  const given = newTwilio();
  const key = await connected("TWILIO", given);
  const { carrier } = await account.client.getCarrier(key);
  const masked = { ...settings(given), authToken: "********cdef" };
  expect(carrier).toMatchObject({ ...key, provider: "TWILIO", settings: masked });
  expect((await account.client.listCarriers(key)).carriers).toEqual([carrier as never]);
  const credentials = await account.client.getCarrierCredentials({ ...key, evenDisconnected: false });
  expect(credentials.carrier?.settings).toEqual(settings(given));
  const found = await account.client.findCarrier({ carrierId: key.carrierId });
  expect(found.carrier).toMatchObject({ ...key, provider: "TWILIO", settings: undefined });
  expect(await account.client.findCarrier({ carrierId: "car_00000000000000000000000000" })).toEqual({
    carrier: undefined,
  });
});

test("no secret of a carrier is in the database in clear", async () => {
  const key = await connected("TWILIO", newTwilio());
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  const [row] = await sql`select carriers::text as all from carriers where carrier_id = ${key.carrierId}`;
  await sql.end();
  expect(row?.all).not.toContain(TOKEN);
  expect(row?.all).toContain("********cdef");
});

test("a carrier moved to another owner in the database cannot be opened", async () => {
  const [key, thief] = [await connected("TWILIO", newTwilio()), await newOwner(account.client)];
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  await sql`update carriers set owner_id = ${thief.ownerId} where carrier_id = ${key.carrierId}`;
  await sql.end();
  const moved = { ownerId: thief.ownerId, carrierId: key.carrierId };
  expect(await failureOf(account.client.getCarrierCredentials({ ...moved, evenDisconnected: false }))).toMatchObject({
    kind: "condition",
    detail: "The credentials of this carrier can no longer be read: connect it again",
  });
});

test.each([
  ["TWILIO", { accountSid: `AC${"f".repeat(32)}` }, "auth_token", "is not the token of this account_sid"],
  ["TWILIO", { authToken: "wrong" }, "auth_token", "is not the token of this account_sid"],
  ["TWILIO", { accountSid: "SK0" }, "account_sid", "must be a Twilio account SID"],
  ["PLIVO", { authToken: "wrong" }, "auth_token", "is not the token of this auth_id"],
  ["PLIVO", { authId: "MA" }, "auth_id", "must be a Plivo auth ID"],
  ["DAILY", { apiKey: "wrong" }, "api_key", "belongs to no Daily domain"],
  ["WHATSAPP", { accessToken: "wrong" }, "access_token", "does not give access to this phone_number_id"],
  ["WHATSAPP", { phoneNumberId: "106540352242923" }, "phone_number_id", "is not a number that this access_token"],
  ["WHATSAPP", { mobileNumber: "+14155550124" }, "mobile_number", "must be +1 415-555-0123"],
  ["SIP", { host: "sip example" }, "host", "must be a host name"],
  ["SIP", { username: "acme>" }, "username", "must be a SIP user name"],
  ["SIP", { username: "acme;transport=tls" }, "username", "must be a SIP user name"],
  ["SIP", { username: "acme@other.example" }, "username", "must be a SIP user name"],
  ["SIP", { username: 'acme"' }, "username", "must be a SIP user name"],
  ["SIP", { username: "ac me" }, "username", "must be a SIP user name"],
  ["SIP", { transport: "SCTP" }, "transport", "must be UDP, TCP or TLS"],
  ["SIP", { allowedAddresses: ["10.0.0.0/8", "everywhere"] }, "allowed_addresses.1", 'not "everywhere"'],
  [
    "SIP",
    { allowedAddresses: Array(101).fill("192.0.2.1") },
    "allowed_addresses",
    "must have at most 100 IP addresses",
  ],
  ["SIP", { authToken: TOKEN }, "auth_token", "is not taken by SIP, which takes host, transport"],
  ["VONAGE", {}, "provider", "must be one of TWILIO, PLIVO, SIP, DAILY, WHATSAPP"],
] as const)("%s with %j is refused, naming %s", async (provider, wrong, path, must) => {
  const right: Record<string, () => Partial<CarrierSettings>> = {
    TWILIO: newTwilio,
    PLIVO: newPlivo,
    DAILY: () => ({ apiKey: "daily-key-of-acme" }),
    SIP: () => ({ host: "trunk.example" }),
    WHATSAPP: () => ({
      phoneNumberId: "106540352242922",
      accessToken: "EAAG-of-acme",
      appSecret: "app-secret",
      verifyToken: "verify-token",
      mobileNumber: "+14155550123",
    }),
  };
  const { ownerId } = await newOwner(account.client);
  const given = settings({ ...right[provider]?.(), ...(wrong as Partial<CarrierSettings>) });
  expect(await failureOf(account.client.connectCarrier({ ownerId, provider, settings: given }))).toMatchObject({
    kind: "invalid",
    violations: [{ path, message: expect.stringContaining(must) }],
  });
  if (right[provider]) await connected(provider, right[provider]());
});

test("a suspended account is refused, and a carrier that is down is reported as 'try again'", async () => {
  const { ownerId } = await newOwner(account.client);
  const accountSid = `AC${(accounts++).toString(16).padStart(32, "0")}`;
  twilio.addAccount({ accountSid, authToken: TOKEN, status: "suspended" });
  const connect = () =>
    account.client.connectCarrier({
      ownerId,
      provider: "TWILIO",
      settings: settings({ accountSid, authToken: TOKEN }),
    });
  expect(await failureOf(connect())).toMatchObject({
    kind: "condition",
    detail: expect.stringContaining("is suspended"),
  });
  answersLeft = 0;
  expect(await failureOf(connect())).toMatchObject({ kind: "unavailable", detail: "Twilio answered 503. Try again." });
  answersLeft = Number.POSITIVE_INFINITY;
  expect((await account.client.listCarriers({ ownerId })).carriers).toEqual([]);
});

test("connecting an account again replaces its credentials and keeps its id", async () => {
  const given = newTwilio();
  const owner = await newOwner(account.client);
  const before = await connected("TWILIO", given, owner);
  twilio.addAccount({ accountSid: given.accountSid ?? "", authToken: "the-rotated-token" });
  const after = await connected("TWILIO", { ...given, authToken: "the-rotated-token" }, owner);
  expect(after).toEqual(before);
  const { carrier } = await account.client.getCarrierCredentials({ ...after, evenDisconnected: false });
  expect(carrier?.settings?.authToken).toBe("the-rotated-token");
});

test("a number imported from Twilio calls Parley, and its previous settings are restored when it is removed", async () => {
  const had = {
    voice_url: "https://before.example/voice",
    voice_method: "GET",
    voice_fallback_url: "https://before.example/fallback",
    status_callback: "https://before.example/status",
    status_callback_method: "GET",
    voice_application_sid: `AP${"1".repeat(32)}`,
  };
  const given = newTwilio({ "+14155550140": had, "+14155550141": {} });
  const key = await connected("TWILIO", given);
  const numberAt = (number: string) => twilio.numbers(given.accountSid ?? "").get(number);
  const untouched = { ...numberAt("+14155550140") };
  const mobileNumber = "+14155550140";
  const { mobileNumber: imported } = await account.client.importCarrierNumber({ ...key, mobileNumber });
  expect(imported).toMatchObject({ mobileNumber, telephonyProvider: "TWILIO", carrierId: key.carrierId });
  expect(numberAt(mobileNumber)).toMatchObject({
    voice_url: `${PUBLIC_URL}/v1/carriers/twilio/${key.carrierId}/voice`,
    voice_method: "POST",
    voice_fallback_url: "",
    status_callback: `${PUBLIC_URL}/v1/carriers/twilio/${key.carrierId}/status`,
    status_callback_method: "POST",
    voice_application_sid: "",
  });
  // A repeat, as after a lost answer.
  await account.client.importCarrierNumber({ ...key, mobileNumber });
  expect((await account.client.listCarrierNumbers(key)).numbers).toEqual([
    { mobileNumber, name: mobileNumber, takesCalls: true, imported: true },
    { mobileNumber: "+14155550141", name: "+14155550141", takesCalls: true, imported: false },
  ]);
  expect((await account.client.findCarrierOfNumber({ ...key, mobileNumber })).carrier).toMatchObject(key);
  await account.client.removeMobileNumber({ ownerId: key.ownerId, mobileNumber });
  await eventually(() => expect(numberAt(mobileNumber)).toEqual(untouched));
  expect(await account.client.findCarrierOfNumber({ ...key, mobileNumber })).toEqual({ carrier: undefined });
});

test("a number imported from Plivo gets Parley's application, and its previous one when it is removed", async () => {
  const given = newPlivo({ "+442071838751": "77", "+442071838752": null });
  const key = await connected("PLIVO", given);
  const authId = given.authId ?? "";
  const applicationOf = (number: string) => {
    const id = /Application\/(\d+)\//.exec(String(plivo.numbers(authId).get(number)?.application))?.[1];
    return id === undefined ? undefined : plivo.applications(authId).get(id);
  };
  for (const mobileNumber of ["+442071838751", "+442071838752"]) {
    await account.client.importCarrierNumber({ ...key, mobileNumber });
    expect(applicationOf(mobileNumber.slice(1))).toMatchObject({
      answer_url: `${PUBLIC_URL}/v1/carriers/plivo/${key.carrierId}/answer`,
      answer_method: "POST",
      hangup_url: `${PUBLIC_URL}/v1/carriers/plivo/${key.carrierId}/hangup`,
      hangup_method: "POST",
    });
  }
  for (const mobileNumber of ["+442071838751", "+442071838752"])
    await account.client.removeMobileNumber({ ownerId: key.ownerId, mobileNumber });
  await eventually(() => expect([...plivo.applications(authId).keys()]).toEqual(["77"]));
  expect(applicationOf("442071838751")).toMatchObject({ app_name: "before" });
  expect(plivo.numbers(authId).get("442071838752")?.application).toBeNull();
});

test("removing a number does not wait for a carrier that is down, and the credentials stay until the number is restored", async () => {
  const given = newTwilio({ "+14155550142": { voice_url: "https://before.example/" } });
  const key = await connected("TWILIO", given);
  const mobileNumber = "+14155550142";
  await account.client.importCarrierNumber({ ...key, mobileNumber });
  expect(await failureOf(account.client.disconnectCarrier(key))).toMatchObject({
    kind: "conflict",
    detail: "A phone number was imported from this carrier: remove it first",
  });
  answersLeft = 0;
  await account.client.removeMobileNumber({ ownerId: key.ownerId, mobileNumber });
  await account.client.disconnectCarrier(key);
  expect(await failureOf(account.client.getCarrier(key))).toMatchObject({ detail: "Carrier not found" });
  expect(await account.client.findCarrier(key)).toEqual({ carrier: undefined });
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  const kept = () => sql`select from carriers where carrier_id = ${key.carrierId}`;
  expect(await kept()).toHaveLength(1);
  answersLeft = Number.POSITIVE_INFINITY;
  await eventually(async () => {
    account.clock.advance(60_000);
    expect(await kept()).toHaveLength(0);
  });
  await sql.end();
  expect(twilio.numbers(given.accountSid ?? "").get(mobileNumber)?.voice_url).toBe("https://before.example/");
});

test("settings changed at the carrier after the import are left alone", async () => {
  const given = newTwilio({ "+14155550143": { voice_url: "https://before.example/" }, "+14155550144": {} });
  const key = await connected("TWILIO", given);
  const mobileNumbers = ["+14155550143", "+14155550144"];
  for (const mobileNumber of mobileNumbers) await account.client.importCarrierNumber({ ...key, mobileNumber });
  const numbers = twilio.numbers(given.accountSid ?? "");
  Object.assign(numbers.get("+14155550143") ?? {}, { voice_url: "https://elsewhere.example/" });
  for (const mobileNumber of mobileNumbers)
    await account.client.removeMobileNumber({ ownerId: key.ownerId, mobileNumber });
  await eventually(() => expect(numbers.get("+14155550144")?.voice_url).toBe(""));
  await eventually(() => expect(numbers.get("+14155550143")?.voice_url).toBe("https://elsewhere.example/"));
});

test("a number is imported by one owner, and by none if the carrier cannot be told", async () => {
  const numbers = { "+14155550145": { voice_url: "https://before.example/" } };
  const given = newTwilio(numbers);
  const [one, other] = [await connected("TWILIO", given), await connected("TWILIO", given)];
  const mobileNumber = "+14155550145";
  // Twilio answers the queries, and goes down before the number's settings are changed.
  answersLeft = 2;
  expect(await failureOf(account.client.importCarrierNumber({ ...one, mobileNumber }))).toMatchObject({
    kind: "unavailable",
  });
  answersLeft = Number.POSITIVE_INFINITY;
  expect(await account.client.listMobileNumbers(one)).toEqual({ mobileNumbers: [] });
  await account.client.importCarrierNumber({ ...one, mobileNumber });
  expect(await failureOf(account.client.importCarrierNumber({ ...other, mobileNumber }))).toMatchObject({
    kind: "conflict",
    detail: "mobile_number +14155550145 belongs to another owner",
  });
  expect(await failureOf(account.client.importCarrierNumber({ ...one, mobileNumber: "+14155550146" }))).toMatchObject({
    kind: "not_found",
    detail: "+14155550146 in the TWILIO account not found",
  });
});

test("another owner's carrier is not found by any call", async () => {
  const key = await connected("TWILIO", newTwilio({ "+14155550147": {} }));
  const { ownerId } = await newOwner(account.client);
  const foreign = { ownerId, carrierId: key.carrierId };
  const { client } = account;
  for (const call of [
    () => client.getCarrier(foreign),
    () => client.getCarrierCredentials({ ...foreign, evenDisconnected: true }),
    () => client.disconnectCarrier(foreign),
    () => client.listCarrierNumbers(foreign),
    () => client.importCarrierNumber({ ...foreign, mobileNumber: "+14155550147" }),
    () => client.disconnectCarrier({ ...foreign, carrierId: "car_\u0000" }),
  ])
    expect(await failureOf(call())).toMatchObject({ kind: "not_found", detail: "Carrier not found" });
});

test("a deleted owner's credentials serve to hang up its calls, and go when those have ended and the numbers are restored", async () => {
  const given = newTwilio({ "+14155550148": { voice_url: "https://before.example/" } });
  const key = await connected("TWILIO", given);
  await account.client.importCarrierNumber({ ...key, mobileNumber: "+14155550148" });
  await newKey(account.client, key.ownerId);
  hasCalls = true;
  await account.client.deleteOwner({ ownerId: key.ownerId });
  expect(await account.client.findCarrier(key)).toEqual({ carrier: undefined });
  const credentials = (evenDisconnected: boolean) => account.client.getCarrierCredentials({ ...key, evenDisconnected });
  expect(await failureOf(credentials(false))).toMatchObject({ kind: "not_found" });
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  const left = (table: string) => sql`select from ${sql(table)} where owner_id = ${key.ownerId}`;
  // A minute later, and when the number is restored.
  await eventually(async () => {
    account.clock.advance(10_000);
    expect(await left("api_keys")).toHaveLength(0);
    expect(await left("number_restores")).toHaveLength(0);
  });
  expect(twilio.numbers(given.accountSid ?? "").get("+14155550148")?.voice_url).toBe("https://before.example/");
  expect((await credentials(true)).carrier?.settings).toEqual(settings(given));
  hasCalls = false;
  await eventually(async () => {
    account.clock.advance(10_000);
    expect(await left("carriers")).toHaveLength(0);
  });
  await sql.end();
  expect(await failureOf(credentials(true))).toMatchObject({ kind: "not_found" });
});

const TRUNK = { host: "trunk.example:5080", username: "acme", password: "of-the-trunk" };

test("a call to a number finds the trunk that it was imported from, with its secrets, until it is removed", async () => {
  const key = await connected("SIP", TRUNK);
  const mobileNumber = "+14155550170";
  await account.client.importCarrierNumber({ ...key, mobileNumber });
  const { carrier } = await account.client.findTrunk({ mobileNumber });
  expect(carrier).toMatchObject({ ...key, settings: { ...TRUNK, transport: "UDP" } });
  for (const other of ["+14155550171", "agt_1", ""])
    expect(await account.client.findTrunk({ mobileNumber: other })).toEqual({ carrier: undefined });
  await account.client.removeMobileNumber({ ownerId: key.ownerId, mobileNumber });
  expect(await account.client.findTrunk({ mobileNumber })).toEqual({ carrier: undefined });
});

test("a number of another carrier, or one that was only added, has no trunk", async () => {
  const twilioKey = await connected("TWILIO", newTwilio({ "+14155550172": {} }));
  await account.client.importCarrierNumber({ ...twilioKey, mobileNumber: "+14155550172" });
  const added = { mobileNumber: "+14155550173", telephonyProvider: "TWILIO", carrierId: undefined };
  await account.client.addMobileNumber({ ownerId: twilioKey.ownerId, mobileNumber: added });
  for (const mobileNumber of ["+14155550172", "+14155550173"])
    expect(await account.client.findTrunk({ mobileNumber })).toEqual({ carrier: undefined });
});

test("the trunks to register with are those with credentials and without addresses that calls come from", async () => {
  const registered = await connected("SIP", TRUNK);
  await connected("SIP", { ...TRUNK, allowedAddresses: ["192.0.2.0/24"] });
  await connected("SIP", { host: "trunk.example" });
  await connected("TWILIO", newTwilio());
  const listed = async (afterCarrierId = "") => (await account.client.listTrunks({ afterCarrierId })).carriers;
  const own = (await listed()).filter(({ ownerId }) => ownerId === registered.ownerId);
  expect(own).toMatchObject([{ ...registered, provider: "SIP", settings: undefined }]);
  expect((await listed(registered.carrierId)).some(({ carrierId }) => carrierId === registered.carrierId)).toBeFalse();
  await account.client.disconnectCarrier(registered);
  expect((await listed()).some(({ carrierId }) => carrierId === registered.carrierId)).toBeFalse();
});
