import {
  type Failure,
  type WhatsAppApi,
  type Written,
  whatsAppApi,
} from "@parley/testkit/stand-ins/carriers/whatsapp-api";
import { controlled, type StandIn } from "../serve.ts";
import { voiceNote } from "./voice-note.ts";

/** The number that exists at the start. */
const NUMBER = {
  phoneNumberId: "106540352242922",
  accessToken: "stand-in-access-token",
  appSecret: "stand-in-app-secret",
  verifyToken: "stand-in-verify-token",
  mobileNumber: "+12025550120",
};

interface WhatsAppOptions {
  /** 0 takes any free port. */
  port: number;
  /** The URL of an OpenAI audio API with its version, for what customers say. */
  speechUrl: string;
}

const BODY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Serves WhatsApp's Cloud API, and beside it routes that play Meta and its customers (docs/whatsapp.md#try-it-without-meta).
 * PARLEY_WHATSAPP_BASE_URL is its URL with `/v23.0`.
 * @throws when the port is taken
 */
export function startWhatsApp({ port, speechUrl }: WhatsAppOptions): StandIn {
  const api = whatsAppApi(() => server.url.origin);
  api.addNumber(NUMBER);
  const server = Bun.serve({
    port,
    // Anyone who reaches it may write as any person.
    hostname: "127.0.0.1",
    maxRequestBodySize: BODY_BYTES_MAX,
    routes: {
      "/healthz": { GET: () => Response.json({ status: "ok" }) },
      "/control/numbers": { POST: (request) => controlled(request, (body: NumberBody) => addNumber(api, body)) },
      "/control/messages": {
        GET: ({ url }) => Response.json({ messages: messagesTo(api, new URL(url).searchParams.get("to")) }),
        POST: (request) => controlled(request, (body: MessageBody) => write(api, speechUrl, body)),
      },
      "/control/script": { POST: (request) => controlled(request, (body: ScriptBody) => script(api, body)) },
    },
    fetch: async (request) =>
      (await api.handle(request)) ?? Response.json({ error: { message: "Unknown path", code: 100 } }, { status: 404 }),
    error: (error) => Response.json({ error: { message: String(error), code: 1 } }, { status: 500 }),
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}

interface NumberBody {
  phone_number_id: string;
  /** Absent for a number that already exists. */
  access_token?: string;
  app_secret?: string;
  verify_token?: string;
  mobile_number?: string;
  callback_url?: string;
}

/** Sets a number up, and where Meta calls if that is given. */
async function addNumber(api: WhatsAppApi, body: NumberBody): Promise<object> {
  const { phone_number_id: phoneNumberId, mobile_number: mobileNumber, callback_url: callbackUrl } = body;
  const { access_token: accessToken, app_secret: appSecret, verify_token: verifyToken } = body;
  if (mobileNumber && accessToken && appSecret && verifyToken)
    api.addNumber({ phoneNumberId, mobileNumber, accessToken, appSecret, verifyToken });
  if (callbackUrl) await api.subscribe(phoneNumberId, callbackUrl);
  return { phone_number_id: phoneNumberId };
}

interface MessageBody {
  phone_number_id: string;
  from: string;
  text?: string;
  /** What the customer says in a voice message. */
  say?: string;
  /** An Ogg file of Opus, in base64. */
  audio?: string;
  /** WhatsApp's id of the message, to send it again; a new one without it. */
  message_id?: string;
  /** Any other message as Meta describes it. */
  message?: Record<string, unknown>;
}

/** A customer writes. */
async function write(api: WhatsAppApi, speechUrl: string, given: MessageBody): Promise<object> {
  const { phone_number_id: phoneNumberId, from, message_id: id, ...body } = given;
  const written = await writtenOf(body, speechUrl);
  const { messageId, status } = await api.write(phoneNumberId, from.replace(/^\+/, ""), written, id);
  return { message_id: messageId, callback_status: status };
}

async function writtenOf(
  { text, say, audio, message }: Omit<MessageBody, "phone_number_id" | "from" | "message_id">,
  speechUrl: string,
): Promise<Written> {
  if (message) return { message };
  if (say !== undefined) return { audio: await voiceNote(speechUrl, say) };
  return audio ? { audio: Buffer.from(audio, "base64") } : { text: text ?? "" };
}

interface ScriptBody {
  /** `{ status, code?, takes? }` for each of the next requests. */
  fail?: Failure[];
  statuses?: (string | { failed: number })[];
}

function script(api: WhatsAppApi, { fail = [], statuses }: ScriptBody): object {
  api.failNext(...fail);
  if (statuses) api.statuses = statuses;
  return {};
}

function messagesTo({ sent }: WhatsAppApi, to: string | null): object[] {
  const wanted = to?.replace(/^[+ ]/, "") ?? null;
  return sent
    .filter((message) => wanted === null || message.to === wanted)
    .map(({ wamid, to: person, type, text, audio }) => {
      return { id: wamid, to: person, type, text, ...(audio && { audio: Buffer.from(audio).toString("base64") }) };
    });
}
