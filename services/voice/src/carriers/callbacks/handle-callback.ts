import type { Carrier as CarrierAccount } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { plivoSignature, twilioSignature } from "@parley/shared/carriers/signatures";
import { type CallingBack, callbackUrl } from "@parley/shared/carriers/urls";
import { notFound, nullIfNotFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { isSameSecret } from "@parley/shared/sealing";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import { counter } from "@parley/shared/telemetry/instruments";
import type { PersonCalls } from "../../outbound/people/person-calls.ts";
import type { CalledBack, CarrierEvent } from "../carrier.ts";
import { dialDocument, HANG_UP, readTransfer, sayDocument, streamDocument, streamsDocument } from "../documents.ts";
import type { IncomingCalls } from "./incoming-calls.ts";
import { e164, plivoEvents } from "./plivo-events.ts";
import type { SpokenCalls } from "./spoken-calls.ts";
import { machineOf, twilioEvents } from "./twilio-events.ts";

export interface CallbackContext {
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "findCarrier" | "getCarrierCredentials">;
  calledBack: CalledBack;
  incoming: Pick<IncomingCalls, "answer" | "ended">;
  spoken: Pick<SpokenCalls, "find">;
  people: Pick<PersonCalls, "find" | "answer" | "ended">;
  /** Callbacks that are being verified. */
  verifyFewAtOnce: FewAtOnce;
  /** PARLEY_PUBLIC_URL. */
  publicUrl: string;
}

interface Callback {
  provider: CallingBack;
  /** The carrier's id for an incoming call, the call's for an outgoing one. */
  id: string;
  event: string;
  form: URLSearchParams;
  /** Every signature that the carrier sent. */
  signatures: readonly string[];
  /** Plivo's nonce. */
  nonce: string;
}

/** Limit for a carrier's id of a call, which is stored: Twilio's and Plivo's have some 35 characters. */
const CARRIER_CALL_ID_MAX = 200;

const received = counter("parley.carrier.callbacks", "Callbacks of carriers, by provider and result");

/**
 * Handles a carrier's report or question. Callbacks may arrive late, twice, and out of order.
 * @param gone fires when the sender no longer waits
 * @returns the document that it asks for; "" for none
 * @throws ServiceError not_found for an unknown call or carrier, forbidden for a wrong signature, rate_limited when too many for the
 *   same id wait to be verified
 */
export async function handleCallback(ctx: CallbackContext, callback: Callback, gone: AbortSignal): Promise<string> {
  const { provider, id, event } = callback;
  const { target, known } = await ctx.verifyFewAtOnce(id, gone, () => verify(ctx, callback));
  if (carrierCallIdOf(callback).length > CARRIER_CALL_ID_MAX)
    throw new ServiceError("condition", `The call's id must have at most ${CARRIER_CALL_ID_MAX} characters`);
  if (target.kind === "spoken") return event === "answer" ? sentence(ctx, callback) : "";
  if (target.kind === "person") return toPerson(ctx, callback);
  if (target.kind === "call") return outgoing(ctx, callback, { ...known, callId: id });
  const transfer = provider === "plivo" ? readTransfer(event) : null;
  if (transfer) return dialDocument(provider, transfer.from, transfer.to);
  if (event === (provider === "twilio" ? "voice" : "answer")) return incoming(ctx, callback, known);
  const hasEnded = eventsIn(callback).some(({ type }) => type === "ended");
  if (hasEnded) await ctx.incoming.ended({ ...known, carrierCallId: carrierCallIdOf(callback) });
  return "";
}

/**
 * Whether a carrier may call back about this id. Reads no secrets: anyone may ask, by sending a callback to the gateway.
 * @throws ServiceError not_found, rate_limited
 */
export async function checkTarget(
  ctx: CallbackContext,
  { provider, id }: Pick<Callback, "provider" | "id">,
  gone: AbortSignal,
): Promise<void> {
  if (await ctx.verifyFewAtOnce(id, gone, () => targetOf(ctx, provider, id))) return;
  received().add(1, { provider, result: "unknown" });
  throw notFound("Call");
}

/** @throws ServiceError not_found, forbidden */
async function verify(ctx: CallbackContext, callback: Callback): Promise<{ target: Target; known: Known }> {
  const { provider, id } = callback;
  const count = (result: string) => received().add(1, { provider, result });
  const target = await targetOf(ctx, provider, id);
  const account = target && (await accountOf(ctx, target, provider));
  if (!account) {
    count("unknown");
    throw notFound("Call");
  }
  if (!isSigned(ctx, callback, account)) {
    count("forged");
    throw new ServiceError("forbidden", "The carrier's signature is wrong");
  }
  count("accepted");
  return { target, known: { ownerId: account.ownerId, carrierId: account.carrierId } };
}

interface Known {
  ownerId: string;
  carrierId: string;
}

interface Target extends Known {
  kind: "carrier" | "call" | "person" | "spoken";
}

/** A call's carrier is not looked up here, so the call may be another provider's. */
async function targetOf(
  { accounts, calledBack, people, spoken }: CallbackContext,
  provider: CallingBack,
  id: string,
): Promise<Target | null> {
  if (isId("car", id)) {
    const { carrier } = await accounts.findCarrier({ carrierId: id });
    return isOf(provider, carrier) ? { kind: "carrier", ownerId: carrier.ownerId, carrierId: id } : null;
  }
  if (!isId("call", id)) return null;
  const call = await calledBack.find(id);
  if (call) return { kind: "call", ...call };
  const person = await people.find(id);
  if (person) return { kind: "person", ownerId: person.ownerId, carrierId: person.carrierId };
  const said = await spoken.find(id);
  return said && { kind: "spoken", ownerId: said.ownerId, carrierId: said.carrierId };
}

/** Null for a carrier that was disconnected or is another provider's. */
async function accountOf(
  { accounts }: CallbackContext,
  { ownerId, carrierId }: Target,
  provider: CallingBack,
): Promise<CarrierAccount | null> {
  const asked = { ownerId, carrierId, evenDisconnected: false };
  const carrier = (await accounts.getCarrierCredentials(asked).catch(nullIfNotFound))?.carrier;
  return isOf(provider, carrier) ? carrier : null;
}

function isOf(provider: CallingBack, carrier: CarrierAccount | undefined): carrier is CarrierAccount {
  return carrier?.provider.toLowerCase() === provider;
}

function isSigned({ publicUrl }: CallbackContext, callback: Callback, account: CarrierAccount): boolean {
  const { provider, id, event, form, signatures, nonce } = callback;
  const authToken = account.settings?.authToken ?? "";
  if (authToken === "") return false;
  const url = callbackUrl(publicUrl, provider, id, event);
  const expected =
    provider === "twilio" ? twilioSignature(authToken, url, form) : plivoSignature(authToken, url, form, nonce);
  return signatures.some((given) => isSameSecret(given, expected));
}

function carrierCallIdOf({ provider, form }: Callback): string {
  return form.get(provider === "twilio" ? "CallSid" : "CallUUID") ?? "";
}

async function outgoing(
  { calledBack }: CallbackContext,
  callback: Callback,
  call: { ownerId: string; callId: string },
): Promise<string> {
  const { provider, event, form } = callback;
  if (event === "answer") {
    const carrierCallId = carrierCallIdOf(callback);
    const machine = provider === "twilio" ? machineOf(form.get("AnsweredBy") ?? "") : null;
    const stream = await calledBack.answer(call, { carrierCallId, machine });
    return stream ? streamDocument(provider, stream.url) : HANG_UP;
  }
  for (const told of eventsIn(callback)) await calledBack.report(call, told);
  return "";
}

async function toPerson({ people, publicUrl }: CallbackContext, callback: Callback): Promise<string> {
  const { provider, id, event } = callback;
  if (event === "answer") {
    const urls = await people.answer(id, carrierCallIdOf(callback));
    return urls ? streamsDocument(provider, urls, callbackUrl(publicUrl, provider, id, event)) : HANG_UP;
  }
  const call = await people.find(id);
  for (const told of eventsIn(callback)) if (call && told.type === "ended") await people.ended(call, told.end);
  return "";
}

async function sentence({ spoken }: CallbackContext, { provider, id }: Callback): Promise<string> {
  const call = await spoken.find(id);
  return call ? sayDocument(provider, call.sentence) : HANG_UP;
}

function eventsIn({ provider, event, form }: Callback): CarrierEvent[] {
  return provider === "twilio" ? twilioEvents(event, form) : plivoEvents(event, form);
}

function incoming(ctx: CallbackContext, callback: Callback, known: Known): Promise<string> {
  const { provider, form } = callback;
  const read = (name: string) => (provider === "plivo" ? e164(form.get(name) ?? "") : (form.get(name) ?? ""));
  const carrierCallId = carrierCallIdOf(callback);
  return ctx.incoming.answer({ ...known, provider, carrierCallId, to: read("To"), from: read("From") });
}
