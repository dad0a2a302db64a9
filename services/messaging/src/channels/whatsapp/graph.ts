import { readBounded } from "@parley/shared/bounded-bytes";
import { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";
import { type CarrierRest, carrierRest } from "@parley/shared/carriers/rest";
import type { Connection, Sendable } from "../channel.ts";
import type { WhatsAppConnection } from "./connections.ts";
import { fieldOf, listOf, textOf } from "./fields.ts";
import { MEDIA_ID } from "./notification.ts";
import type { Template } from "./template.ts";

/** WhatsApp's Cloud API for one phone number. */
type Graph = Pick<Connection, "send" | "upload" | "download">;

interface GraphOptions {
  /** Of the Graph API with its version; the operator's. */
  baseUrl: string;
  /** For addresses of media elsewhere. */
  guardedFetch: typeof fetch;
  /** Called when a message was refused because of the owner's access token. */
  tokenRefused(): void;
}

const TIMEOUT_MS = 15_000;

/**
 * Codes that mean "later": throttled, or Meta has a fault
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes).
 */
const TRANSIENT = ["1", "2", "4", "80007", "130429", "131000", "131016", "131048", "131056", "131057", "133004"];

export function graph(
  { phoneNumberId, accessToken }: Pick<WhatsAppConnection, "phoneNumberId" | "accessToken">,
  { baseUrl, guardedFetch, tokenRefused }: GraphOptions,
): Graph {
  const authorization = `Bearer ${accessToken}`;
  const { send } = carrierRest({
    carrier: "WhatsApp",
    baseUrl,
    authorization,
    timeoutMs: TIMEOUT_MS,
    reasonOf: ({ error }) => {
      const code = fieldOf(error, "code");
      const words = textOf(fieldOf(error, "error_data"), "details") || textOf(error, "message");
      return { code: typeof code === "number" ? String(code) : undefined, words: words || undefined };
    },
  });
  const ask: CarrierRest["send"] = (...request) => send(...request).catch(throwAsMeant);
  return {
    send: async (to, messageId, content) => {
      const answering = ask("POST", `/${phoneNumberId}/messages`, {
        json: {
          messaging_product: "whatsapp",
          recipient_type: "individual",
          to,
          biz_opaque_callback_data: messageId,
          ...bodyOf(content),
        },
      });
      const answer = await answering.catch((error) => {
        if (error instanceof CarrierRefusal && isOfToken(error)) tokenRefused();
        throw error;
      });
      const wamid = textOf(listOf(answer, "messages")[0], "id");
      if (wamid === "") throw new CarrierUnavailable("WhatsApp accepted a message without an id");
      return { externalId: wamid, contact: textOf(listOf(answer, "contacts")[0], "wa_id") || to };
    },
    upload: async (audio) => {
      const form = new FormData();
      form.set("messaging_product", "whatsapp");
      form.set("type", "audio/ogg");
      form.set("file", new Blob([audio as Uint8Array<ArrayBuffer>], { type: "audio/ogg" }), "voice.ogg");
      const id = textOf(await ask("POST", `/${phoneNumberId}/media`, { multipart: form }), "id");
      if (!MEDIA_ID.test(id)) throw new CarrierUnavailable("WhatsApp stored a voice note without an id");
      return id;
    },
    download: async (mediaId, bytesMax) => {
      if (!MEDIA_ID.test(mediaId)) throw new CarrierRefusal("media", "the media's id is not one of WhatsApp's");
      const { url, file_size: size } = await ask("GET", `/${mediaId}`, {
        query: { phone_number_id: phoneNumberId },
      });
      if (typeof size === "number" && size > bytesMax) throw tooLarge(bytesMax);
      return readMedia(String(url), { authorization, baseUrl, guardedFetch, bytesMax });
    },
  };
}

/** A refusal that means "later" is told as such. */
function throwAsMeant(error: unknown): never {
  if (error instanceof CarrierRefusal && TRANSIENT.includes(error.code))
    throw new CarrierUnavailable(`WhatsApp refused for now: ${error.message}`, null, error);
  throw error;
}

/** Whether the token has expired, was revoked, or belongs to an app that may not send. */
function isOfToken({ status, code }: CarrierRefusal): boolean {
  return status === 401 || code === "0" || code === "190";
}

function bodyOf(content: Sendable): object {
  switch (content.type) {
    case "text":
      return { type: "text", text: { body: content.text } };
    case "voice":
      return { type: "audio", audio: { id: content.mediaId, voice: true } };
    case "template": {
      const { name, language, components } = content.template as Template;
      return { type: "template", template: { name, language: { code: language }, components } };
    }
  }
}

interface Media {
  authorization: string;
  baseUrl: string;
  guardedFetch: typeof fetch;
  bytesMax: number;
}

/** The request carries the token, so it goes only to the operator's own address or, guarded, over https. */
async function readMedia(url: string, { authorization, baseUrl, guardedFetch, bytesMax }: Media): Promise<Uint8Array> {
  const address = URL.parse(url);
  const isOperators = address?.origin === new URL(baseUrl).origin;
  if (!address || !(isOperators || address.protocol === "https:"))
    throw new CarrierRefusal("media", "the media's address is not one of WhatsApp's");
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const init = { headers: { Authorization: authorization }, redirect: "manual", signal } as const;
  try {
    const response = await (isOperators ? fetch : guardedFetch)(address, init);
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status === 429 || response.status >= 500)
        throw new CarrierUnavailable(`WhatsApp answered ${response.status}`);
      throw new CarrierRefusal(String(response.status), "the media does not exist");
    }
    const media = await readBounded(response, bytesMax);
    if (!media) throw tooLarge(bytesMax);
    return media;
  } catch (error) {
    if (error instanceof CarrierRefusal || error instanceof CarrierUnavailable) throw error;
    throw new CarrierUnavailable("WhatsApp's media cannot be reached", null, error);
  }
}

function tooLarge(bytesMax: number): CarrierRefusal {
  return new CarrierRefusal("media", `the media is larger than ${bytesMax} bytes`);
}
