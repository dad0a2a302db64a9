import { readBounded } from "@parley/shared/bounded-bytes";
import { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";
import { type CarrierRest, carrierRest } from "@parley/shared/carriers/rest";
import type { Connection } from "./connections.ts";
import { fieldOf, listOf, textOf } from "./fields.ts";
import { MEDIA_ID } from "./notification.ts";
import type { Template } from "./template.ts";

/** WhatsApp's Cloud API for one phone number. Errors are CarrierRefusal and CarrierUnavailable. */
export interface Graph {
  /**
   * @param messageId our own, which statuses repeat
   * @returns WhatsApp's id, and the person as WhatsApp names it
   */
  send(to: string, messageId: string, content: Sendable): Promise<{ wamid: string; contact: string }>;
  /** Stores a voice note at WhatsApp. @returns its id */
  upload(audio: Uint8Array): Promise<string>;
  /** Media that someone sent, at most `bytesMax`. */
  download(mediaId: string, bytesMax: number): Promise<Uint8Array>;
}

export type Sendable =
  | { type: "text"; text: string }
  | { type: "template"; template: Template }
  | { type: "voice"; mediaId: string };

const TIMEOUT_MS = 15_000;

/**
 * Codes that mean "later": throttled, or Meta has a fault
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes).
 */
const TRANSIENT = ["1", "2", "4", "80007", "130429", "131000", "131016", "131048", "131056", "131057", "133004"];

/** Whether another attempt may succeed. */
export function mayRetry(error: unknown): boolean {
  return error instanceof CarrierUnavailable || (error instanceof CarrierRefusal && TRANSIENT.includes(error.code));
}

/**
 * @param baseUrl of the Graph API with its version; the operator's
 * @param guardedFetch for addresses of media elsewhere
 */
export function graph(
  { phoneNumberId, accessToken }: Pick<Connection, "phoneNumberId" | "accessToken">,
  baseUrl: string,
  guardedFetch: typeof fetch,
): Graph {
  const authorization = `Bearer ${accessToken}`;
  const rest: CarrierRest = carrierRest({
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
  return {
    send: async (to, messageId, content) => {
      const answer = await rest.send("POST", `/${phoneNumberId}/messages`, {
        json: {
          messaging_product: "whatsapp",
          recipient_type: "individual",
          to,
          biz_opaque_callback_data: messageId,
          ...bodyOf(content),
        },
      });
      const wamid = textOf(listOf(answer, "messages")[0], "id");
      if (wamid === "") throw new CarrierUnavailable("WhatsApp accepted a message without an id");
      return { wamid, contact: textOf(listOf(answer, "contacts")[0], "wa_id") || to };
    },
    upload: async (audio) => {
      const form = new FormData();
      form.set("messaging_product", "whatsapp");
      form.set("type", "audio/ogg");
      form.set("file", new Blob([audio as Uint8Array<ArrayBuffer>], { type: "audio/ogg" }), "voice.ogg");
      const id = textOf(await rest.send("POST", `/${phoneNumberId}/media`, { multipart: form }), "id");
      if (!MEDIA_ID.test(id)) throw new CarrierUnavailable("WhatsApp stored a voice note without an id");
      return id;
    },
    download: async (mediaId, bytesMax) => {
      if (!MEDIA_ID.test(mediaId)) throw new CarrierRefusal("media", "the media's id is not one of WhatsApp's");
      const { url, file_size: size } = await rest.send("GET", `/${mediaId}`, {
        query: { phone_number_id: phoneNumberId },
      });
      if (typeof size === "number" && size > bytesMax) throw tooLarge(bytesMax);
      return readMedia(String(url), { authorization, baseUrl, guardedFetch, bytesMax });
    },
  };
}

function bodyOf(content: Sendable): object {
  switch (content.type) {
    case "text":
      return { type: "text", text: { body: content.text } };
    case "voice":
      return { type: "audio", audio: { id: content.mediaId, voice: true } };
    case "template": {
      const { name, language, components } = content.template;
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
