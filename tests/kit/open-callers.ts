import { createHmac } from "node:crypto";
import { STAND_IN_API_KEY } from "@parley/dev/stand-ins/daily/server.ts";
import {
  dailySignature,
  dailyWebhookSecret,
  plivoSignature,
  twilioSignature,
} from "@parley/shared/carriers/signatures";
import type { Api } from "./api.ts";
import { carrierStandIn } from "./calls/carrier-stand-in.ts";
import type { RunningStack } from "./stack/use-stack.ts";
import type { WhatsAppConnection } from "./whatsapp.ts";

/** Callers without a key, and the credentials that they use instead: a visitor's page, a browser in a web call, carriers. */
export interface OpenCallers {
  /** IDs that replace those of the document's examples, by path parameter. */
  ids(operationId: string): Record<string, string>;
  /** Keeps the tokens in an answer. */
  remember(operationId: string, answer: Record<string, string>): void;
  /** Headers that authenticate the caller. @param body as it is sent */
  proof(operationId: string, url: string, body: string): Record<string, string>;
  /** Null until one exists. */
  whatsApp: WhatsAppConnection | undefined;
}

/** Connects a Twilio and a Plivo account of the stand-in. @param manage the owner's management API */
export async function openCallers(stack: RunningStack, manage: Api): Promise<OpenCallers> {
  const carrier = carrierStandIn(stack.address("carrier"));
  const [twilio, plivo] = [await carrier.addTwilio([]), await carrier.addPlivo([])];
  const connect = async (account: object): Promise<string> => {
    const { status, body } = await manage.post("/carriers", account);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.carrier_id;
  };
  const carrierIds = { twilio: await connect(twilio), plivo: await connect(plivo) };
  const given: Record<string, Record<string, string>> = {};
  const webCall = () => ({ conversation_id: given.createWebCall?.conversation_id ?? "" });
  const withWebCallToken = () => ({ authorization: `Bearer ${given.createWebCall?.token}` });
  const origin = "https://shop.example";
  const ids: Record<string, () => Record<string, string>> = {
    connectWebCall: webCall,
    endWebCall: webCall,
    handleTwilioCallback: () => ({ callback_id: carrierIds.twilio }),
    handlePlivoCallback: () => ({ callback_id: carrierIds.plivo }),
    handleDailyWebhook: () => ({ domain_id: "operator" }),
    verifyWhatsAppWebhook: () => ({ connection_id: callers.whatsApp?.connectionId ?? "" }),
    handleWhatsAppCallback: () => ({ connection_id: callers.whatsApp?.connectionId ?? "" }),
  };
  const proofs: Record<string, (url: string, body: string) => Record<string, string>> = {
    createWidgetToken: () => ({ origin }),
    sendWidgetMessage: () => ({ origin, authorization: `Bearer ${given.createWidgetToken?.token}` }),
    watchWidget: () => ({ origin, authorization: `Bearer ${given.createWidgetToken?.token}` }),
    connectWebCall: withWebCallToken,
    endWebCall: withWebCallToken,
    handleTwilioCallback: (url, body) => ({
      "x-twilio-signature": twilioSignature(twilio.auth_token, url, new URLSearchParams(body)),
    }),
    handlePlivoCallback: (url, body) => ({
      "x-plivo-signature-v3": plivoSignature(plivo.auth_token, url, new URLSearchParams(body), "1"),
      "x-plivo-signature-v3-nonce": "1",
    }),
    handleDailyWebhook: (_, body) => ({
      "x-webhook-timestamp": "1",
      "x-webhook-signature": dailySignature(dailyWebhookSecret(STAND_IN_API_KEY, "operator"), "1", body),
    }),
    handleWhatsAppCallback: (_, body) => ({
      "x-hub-signature-256": `sha256=${createHmac("sha256", callers.whatsApp?.appSecret ?? "")
        .update(body)
        .digest("hex")}`,
    }),
  };
  const callers: OpenCallers = {
    ids: (operationId) => ids[operationId]?.() ?? {},
    remember: (operationId, answer) => {
      given[operationId] = answer;
    },
    proof: (operationId, url, body) => proofs[operationId]?.(url, body) ?? {},
    whatsApp: undefined,
  };
  return callers;
}
