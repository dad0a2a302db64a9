import { createHmac } from "node:crypto";

// A stand-in for WhatsApp's Cloud API, with the paths, parameters and answers of
// https://developers.facebook.com/documentation/business-messaging/whatsapp.

/** A number of a business, with its settings at Meta. */
export interface WhatsAppNumber {
  phoneNumberId: string;
  accessToken: string;
  appSecret: string;
  verifyToken: string;
  /** E.164. */
  mobileNumber: string;
  /** Where Meta calls; none until it is set. */
  callbackUrl?: string;
}

/** A message that the business sent. */
export interface SentMessage {
  wamid: string;
  phoneNumberId: string;
  to: string;
  type: string;
  /** The words of a text; the name of a template. */
  text: string;
  /** The audio of a voice message. */
  audio?: Uint8Array;
  /** The sender's own id, which statuses repeat. */
  opaque: string;
}

/** What a person writes: a text, a voice message, or any other message of Meta's documentation. */
export type Written = { text: string } | { audio: Uint8Array } | { message: Record<string, unknown> };

export interface Failure {
  /** HTTP status. */
  status: number;
  /** Meta's code. */
  code?: number;
  /** Meta accepts the message nevertheless, and only its answer is lost. */
  takes?: boolean;
}

export interface WhatsAppApi {
  /** Answers a request of the business; null for a path that Meta does not have. */
  handle(request: Request): Promise<Response | null>;
  addNumber(number: WhatsAppNumber): void;
  /** Sets where Meta calls, after the handshake. @throws when that fails */
  subscribe(phoneNumberId: string, callbackUrl: string): Promise<void>;
  /**
   * Lets a person write to a number.
   * @param from a phone number without its plus
   * @returns the id of the message, and what the callback was answered with
   */
  write(phoneNumberId: string, from: string, written: Written, messageId?: string): Promise<Delivered>;
  /** Calls back with any body, signed. */
  call(phoneNumberId: string, body: string): Promise<Response>;
  readonly sent: readonly SentMessage[];
  /** The answers to the next requests to send a message. */
  failNext(...failures: Failure[]): void;
  /** The statuses that each message gets, in this order; sent, delivered and read at the beginning. */
  statuses: readonly (string | { failed: number })[];
  /** Settles when all callbacks that were begun have been answered. */
  settled(): Promise<void>;
}

export interface Delivered {
  messageId: string;
  status: number;
}

export function whatsAppApi(origin: () => string): WhatsAppApi {
  const numbers = new Map<string, WhatsAppNumber>();
  const media = new Map<string, Uint8Array>();
  const sent: SentMessage[] = [];
  const failures: Failure[] = [];
  const calls = new Set<Promise<unknown>>();
  let ids = 0;

  const api: WhatsAppApi = {
    sent,
    statuses: ["sent", "delivered", "read"],
    addNumber: (number) => void numbers.set(number.phoneNumberId, number),
    failNext: (...next) => void failures.push(...next),
    settled: async () => {
      while (calls.size > 0) await Promise.allSettled(calls);
    },
    subscribe: async (phoneNumberId, callbackUrl) => {
      const number = numberOf(phoneNumberId);
      const url = new URL(callbackUrl);
      const challenge = String(Math.trunc(Math.random() * 1e9));
      url.searchParams.set("hub.mode", "subscribe");
      url.searchParams.set("hub.challenge", challenge);
      url.searchParams.set("hub.verify_token", number.verifyToken);
      const response = await fetch(url);
      if (!response.ok || (await response.text()) !== challenge)
        throw new Error(`the address did not repeat the challenge: it answered ${response.status}`);
      number.callbackUrl = callbackUrl;
    },
    write: async (phoneNumberId, from, written, messageId = `wamid.${crypto.randomUUID()}`) => {
      const message = { from, id: messageId, timestamp: seconds(), ...messageOf(written) };
      const contacts = [{ profile: { name: "A customer" }, wa_id: from }];
      const response = await notify(phoneNumberId, { contacts, messages: [message] });
      return { messageId, status: response.status };
    },
    call: (phoneNumberId, body) => post(numberOf(phoneNumberId), body),
    handle: async (request) => {
      const { pathname } = new URL(request.url);
      const [, first = "", second = ""] = pathname.replace(/^\/v\d+\.\d+/, "").split("/");
      if (request.method === "GET" && first === "media" && media.has(second)) return download(request, second);
      const number = numbers.get(first);
      if (!number) return media.has(first) && request.method === "GET" ? describe(request, first) : null;
      if (request.headers.get("authorization") !== `Bearer ${number.accessToken}`)
        return problem(401, 190, "Error validating access token");
      if (request.method === "GET" && second === "")
        return Response.json({ id: first, display_phone_number: number.mobileNumber });
      if (request.method === "POST" && second === "media") return store(request);
      if (request.method === "POST" && second === "messages") return take(request, number);
      return null;
    },
  };
  return api;

  function numberOf(phoneNumberId: string): WhatsAppNumber {
    const number = numbers.get(phoneNumberId);
    if (!number) throw new Error(`there is no number ${phoneNumberId}`);
    return number;
  }

  function messageOf(written: Written): Record<string, unknown> {
    if ("message" in written) return written.message;
    if ("text" in written) return { type: "text", text: { body: written.text } };
    const id = newMedia(written.audio);
    return { type: "audio", audio: { id, mime_type: "audio/ogg; codecs=opus", voice: true } };
  }

  function newMedia(bytes: Uint8Array): string {
    const id = String(900_000 + ++ids);
    media.set(id, bytes);
    return id;
  }

  function describe(_request: Request, id: string): Response {
    const bytes = media.get(id) as Uint8Array;
    const url = `${origin()}/media/${id}`;
    return Response.json({ messaging_product: "whatsapp", url, mime_type: "audio/ogg", file_size: bytes.length, id });
  }

  function download(request: Request, id: string): Response {
    const isOurs = [...numbers.values()].some(
      ({ accessToken }) => request.headers.get("authorization") === `Bearer ${accessToken}`,
    );
    return isOurs ? new Response(media.get(id) as Uint8Array<ArrayBuffer>) : new Response(null, { status: 401 });
  }

  async function store(request: Request): Promise<Response> {
    const form = await request.formData();
    const file = form.get("file");
    if (!(file instanceof Blob) || form.get("messaging_product") !== "whatsapp")
      return problem(400, 100, "(#100) Param file must be a file");
    return Response.json({ id: newMedia(await file.bytes()) });
  }

  async function take(request: Request, number: WhatsAppNumber): Promise<Response> {
    const failure = failures.shift();
    if (failure && !failure.takes) return problem(failure.status, failure.code ?? 131_016, "Something went wrong");
    const body = (await request.json()) as Record<string, Record<string, unknown>> & Record<string, string>;
    const type = String(body.type);
    const own = (body[type] ?? {}) as Record<string, unknown>;
    const text = String(type === "template" ? own.name : (own.body ?? ""));
    if (type === "text" && (text === "" || text.length > 4_096))
      return problem(400, 100, "(#100) Param text['body'] must be at most 4096 characters long.");
    const audio = type === "audio" ? media.get(String(own.id)) : undefined;
    if (type === "audio" && !audio) return problem(400, 131_053, "Media upload error");
    const message: SentMessage = {
      wamid: `wamid.${crypto.randomUUID()}`,
      phoneNumberId: number.phoneNumberId,
      to: String(body.to),
      type,
      text,
      ...(audio && { audio }),
      opaque: String(body.biz_opaque_callback_data ?? ""),
    };
    sent.push(message);
    begin(tellStatuses(message));
    if (failure) return problem(failure.status, failure.code ?? 131_016, "Something went wrong");
    return Response.json({
      messaging_product: "whatsapp",
      contacts: [{ input: message.to, wa_id: message.to }],
      messages: [{ id: message.wamid }],
    });
  }

  async function tellStatuses({ wamid, to, opaque, phoneNumberId }: SentMessage): Promise<void> {
    for (const told of api.statuses) {
      const failed = typeof told === "string" ? null : told.failed;
      const status = {
        id: wamid,
        status: typeof told === "string" ? told : "failed",
        timestamp: seconds(),
        recipient_id: to,
        ...(opaque && { biz_opaque_callback_data: opaque }),
        ...(failed !== null && { errors: [{ code: failed, title: "Message undeliverable" }] }),
      };
      await notify(phoneNumberId, { statuses: [status] });
    }
  }

  function begin(work: Promise<unknown>): void {
    // Meta tries again later; a test that needs a status sees that it is missing.
    const call = work.catch(() => {}).finally(() => calls.delete(call));
    calls.add(call);
  }

  function notify(phoneNumberId: string, value: object): Promise<Response> {
    const number = numberOf(phoneNumberId);
    const metadata = { display_phone_number: number.mobileNumber.slice(1), phone_number_id: phoneNumberId };
    const change = { field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } };
    return post(
      number,
      JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes: [change] }] }),
    );
  }

  async function post({ callbackUrl, appSecret }: WhatsAppNumber, body: string): Promise<Response> {
    if (!callbackUrl) throw new Error("no address for callbacks is set");
    const signature = createHmac("sha256", appSecret).update(body).digest("hex");
    const headers = { "Content-Type": "application/json", "X-Hub-Signature-256": `sha256=${signature}` };
    return fetch(callbackUrl, { method: "POST", headers, body });
  }
}

function problem(status: number, code: number, message: string): Response {
  return Response.json({ error: { message, type: "OAuthException", code, fbtrace_id: "A" } }, { status });
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1_000));
}
