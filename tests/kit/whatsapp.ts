import { randomBytes } from "node:crypto";
import type { RunningStack } from "./stack/use-stack.ts";
import { createSession } from "./test-owner.ts";

export interface WhatsAppConnection {
  phoneNumberId: string;
  appSecret: string;
  verifyToken: string;
  connectionId: string;
  callbackUrl: string;
}

/** Sets up a number at WhatsApp's stand-in, connects it, and makes the stand-in call back. */
export async function connectWhatsApp(
  stack: RunningStack,
  ownerId: string,
  mobileNumber: string,
  agentId: string,
): Promise<WhatsAppConnection> {
  const secret = () => randomBytes(16).toString("hex");
  const phoneNumberId = String(100_000_000 + Math.trunc(Math.random() * 900_000_000));
  const settings = {
    phone_number_id: phoneNumberId,
    access_token: secret(),
    app_secret: secret(),
    verify_token: secret(),
    mobile_number: mobileNumber,
  };
  await controlWhatsApp(stack, "numbers", settings);
  const manage = stack.manage(await createSession(stack, ownerId));
  const connected = await manage.post("/carriers", { provider: "WHATSAPP", ...settings, agent_id: agentId });
  if (connected.status !== 200) throw new Error(`not connected: ${JSON.stringify(connected.body)}`);
  const connectionId: string = connected.body.carrier_id;
  const callbackUrl = `${stack.url}/v1/carriers/whatsapp/${connectionId}`;
  await controlWhatsApp(stack, "numbers", { ...settings, callback_url: callbackUrl });
  return {
    phoneNumberId,
    appSecret: settings.app_secret,
    verifyToken: settings.verify_token,
    connectionId,
    callbackUrl,
  };
}

/** Makes the stand-in act as Meta or a customer; without a body, reads its state. */
// biome-ignore lint/suspicious/noExplicitAny: the stand-in's own answers
export async function controlWhatsApp(stack: RunningStack, path: string, body?: object): Promise<any> {
  const init = body && { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`http://${stack.address("whatsapp")}/control/${path}`, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}
