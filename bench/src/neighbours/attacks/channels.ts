import { createHmac } from "node:crypto";
import { newId } from "@parley/shared/ids";
import type { Attack } from "../attack.ts";
import { again, type Hostile, head } from "../hostile/client.ts";

const FORM = "application/x-www-form-urlencoded";
const CALLBACK_BYTES = 64 * 1024;
/** What a callback may have. */
const CLAIMED_BYTES = 3_000_000;
const PEOPLE_IN_CALLBACK = 50;
const TRICKLE_MS = 100;
const ORIGIN = "https://shop.example";

/** Attacks on the routes that need no key: carriers' callbacks and the widget's. */
export const CHANNEL_ATTACKS: readonly Attack[] = [
  {
    name: "forged-callbacks",
    what: "carriers' callbacks of 16 KB with wrong signatures, 64 at a time",
    tier: "free",
    prepare: async (hostile) => () => {
      const form = `CallSid=CA1&To=%2B14155550123&Padding=${"p".repeat(15_000)}`;
      const headers = { "Content-Type": FORM, "X-Twilio-Signature": "AAAA" };
      return again(64, (worker) => {
        const id = newId(worker % 2 === 0 ? "car" : "call");
        return hostile.request("POST", `/v1/carriers/twilio/${id}/status`, form, headers);
      });
    },
  },
  {
    name: "forged-messages",
    what: "WhatsApp's callbacks of 64 KB, signed by nobody or by the hostile owner for connections of others, 64 at a time",
    tier: "free",
    prepare: async (hostile) => {
      const { appSecret } = await hostile.connectWhatsApp();
      const body = JSON.stringify({ entry: [], padding: "p".repeat(CALLBACK_BYTES) });
      const signature = signatureOf(body, appSecret);
      return () =>
        again(64, (worker) => {
          const headers = { "X-Hub-Signature-256": worker % 2 === 0 ? signature : `sha256=${"0".repeat(64)}` };
          return hostile.request("POST", `/v1/carriers/whatsapp/${newId("car")}`, body, headers);
        });
    },
  },
  {
    name: "slow-messages",
    what: "500 of WhatsApp's callbacks that claim 3 MB and are sent byte by byte, to its own and to made-up connections",
    tier: "free",
    prepare: async (hostile) => {
      const { connectionId } = await hostile.connectWhatsApp();
      const headers = { "Content-Type": "application/json", "Content-Length": CLAIMED_BYTES };
      return () =>
        hostile.hold(500, (socket, number) => {
          const id = number % 2 === 0 ? connectionId : newId("car");
          socket.write(`${head(hostile, "POST", `/v1/carriers/whatsapp/${id}`, headers)}{`);
          setInterval(() => socket.write(" "), TRICKLE_MS);
        });
    },
  },
  {
    name: "own-messages",
    what: "signed callbacks for its own number with messages of 50 people each, every second one sent again, 32 at a time",
    tier: "free",
    prepare: async (hostile) => {
      const { connectionId, phoneNumberId, appSecret } = await hostile.connectWhatsApp(hostile.model("short"));
      const path = `/v1/carriers/whatsapp/${connectionId}`;
      return () =>
        again(32, (worker, round) => {
          // The second time it is a replay.
          const body = messagesOf(phoneNumberId, `${worker}-${Math.floor(round / 2)}`);
          return hostile.request("POST", path, body, { "X-Hub-Signature-256": signatureOf(body, appSecret) });
        });
    },
  },
  {
    name: "widget-visitors",
    what: "tokens for its widget and others', from an allowed and a foreign origin, and a message with each, 64 at a time",
    tier: "free",
    prepare: async (hostile) => {
      const widget = { widget_config: { allowed_origins: [ORIGIN] } };
      const agentId = await hostile.createAgent(hostile.model("short"), widget);
      return () => again(64, (worker) => visit(hostile, worker % 4 === 0 ? newId("agt") : agentId, worker % 2 === 0));
    },
  },
];

async function visit(hostile: Hostile, agentId: string, isForeign: boolean): Promise<void> {
  const headers = { Origin: isForeign ? "https://evil.example" : ORIGIN };
  const asked = await hostile.read("POST", "/v1/public/widget-tokens", { agent_id: agentId }, headers);
  const token = asked?.token;
  if (typeof token !== "string") return;
  const withToken = { ...headers, Authorization: `Bearer ${token}` };
  await hostile.request("POST", "/v1/public/widget-messages", { message: "Hello?" }, withToken);
}

function signatureOf(body: string, appSecret: string): string {
  return `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
}

function messagesOf(phoneNumberId: string, number: string): string {
  const messages = Array.from({ length: PEOPLE_IN_CALLBACK }, (_, at) => ({
    from: `4917012${String(at).padStart(6, "0")}`,
    id: `wamid.${number}.${at}`,
    timestamp: "1749416383",
    type: "text",
    text: { body: "Hello?" },
  }));
  const value = { metadata: { phone_number_id: phoneNumberId }, messages };
  return JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
}
