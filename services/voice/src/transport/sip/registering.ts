import type { Calls } from "./calls.ts";
import { newTag } from "./dialog.ts";
import { answerChallenge, type Credentials } from "./digest.ts";
import { readNameAddress } from "./messages/address.ts";
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
    const response = await ask(first, given.server);
    const header = response.status === 401 ? "www-" : response.status === 407 ? "proxy-" : null;
    if (header === null) return response;
    const shown = answerChallenge(response.headers.get(`${header}authenticate`) ?? [], first, given.credentials);
    if (!shown) return response;
    const headers = new Map(first.headers)
      .set("cseq", ["2 REGISTER"])
      .set(header === "www-" ? "authorization" : "proxy-authorization", [shown]);
    return ask({ ...first, headers }, given.server);
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

/** The lifetime that the registrar gives our binding, or all of them. */
function grantedOf(response: SipResponse, contact: string): number | null {
  const bindings = response.headers.get("contact")?.map(readNameAddress) ?? [];
  const ours = bindings.find((binding) => binding?.uri === contact);
  const text = ours?.params.get("expires") ?? headerOf(response, "expires");
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
