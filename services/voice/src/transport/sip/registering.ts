import { withCredentials } from "./authorizing.ts";
import type { Calls } from "./calls.ts";
import { newTag } from "./dialog.ts";
import type { Credentials } from "./digest.ts";
import { addressesIn } from "./messages/address.ts";
import { headerOf, headersOf, type SipRequest, type SipResponse } from "./messages/message.ts";
import type { Target } from "./sockets.ts";

export interface Registration {
  /** The URI of the registrar, and its address. */
  uri: string;
  server: Target;
  /** The URI that is registered. */
  addressOfRecord: string;
  credentials: Credentials;
  /** The requested lifetime; the registrar may decide otherwise. */
  seconds: number;
  /** A binding of an earlier registration that is removed with this one. */
  former: string | null;
}

/** `refused` is the SIP status; 408: the registrar did not answer. */
export type RegistrationAnswer =
  | { registered: { contact: string; seconds: number } }
  | { refused: number; reason: string };

export type Register = (registration: Registration) => Promise<RegistrationAnswer>;

/** Registers with trunks (RFC 3261, section 10). Never rejects. */
export function registering({ layer, contact: contactOf }: Pick<Calls, "layer" | "contact">): Register {
  const ask = (request: SipRequest, server: Target): Promise<SipResponse> => {
    const { promise, resolve } = Promise.withResolvers<SipResponse>();
    layer.send(request, server, (response) => {
      if (response.status >= 200) resolve(response);
    });
    return promise;
  };

  const attempt = async (given: Registration, contact: string, seconds: number): Promise<SipResponse> => {
    const first = requestFor(given, contact, seconds);
    const tried = await withCredentials(first, given.credentials, async (request) => ({
      response: await ask(request, given.server),
    }));
    return tried.response;
  };

  return async (given) => {
    const contact = contactOf(given.server).replace(/^<|>$/g, "");
    let response = await attempt(given, contact, given.seconds);
    const shortest = Number(headerOf(response, "min-expires"));
    if (response.status === 423 && shortest > given.seconds) response = await attempt(given, contact, shortest);
    if (response.status >= 300) return { refused: response.status, reason: response.reason };
    return { registered: { contact, seconds: grantedOf(response, contact) ?? given.seconds } };
  };
}

function requestFor({ uri, addressOfRecord, former }: Registration, contact: string, seconds: number): SipRequest {
  const removed = former !== null && former !== contact ? [`<${former}>;expires=0`] : [];
  return {
    method: "REGISTER",
    uri,
    headers: headersOf({
      "max-forwards": "70",
      from: `<${addressOfRecord}>;tag=${newTag()}`,
      to: `<${addressOfRecord}>`,
      "call-id": `${newTag()}${newTag()}`,
      cseq: "1 REGISTER",
      contact: [`<${contact}>;expires=${seconds}`, ...removed],
      expires: String(seconds),
    }),
    body: "",
  };
}

/**
 * The lifetime that the registrar gives our binding. It may write our address in another way, or as it sees it behind NAT: of several that
 * are not ours to the letter, the first to expire counts.
 */
function grantedOf(response: SipResponse, contact: string): number | null {
  const bindings = addressesIn(response, "contact").map(({ uri, params }) => ({ uri, expires: params.get("expires") }));
  const own = bindings.filter(({ uri }) => uri === contact);
  const lifetimes = (own.length > 0 ? own : bindings)
    .map(({ expires }) => secondsOf(expires))
    .filter((each) => each !== null);
  return lifetimes.length > 0 ? Math.min(...lifetimes) : secondsOf(headerOf(response, "expires"));
}

function secondsOf(text = ""): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
