import type { CallingBack } from "@parley/shared/carriers/urls";

/**
 * Instructions for a call: TwiML (https://www.twilio.com/docs/voice/twiml) or Plivo XML
 * (https://www.plivo.com/docs/voice/xml/).
 */
export const HANG_UP = documentOf("<Hangup/>");

/** Streams the call's audio in both directions until the stream ends, and with it the call. */
export function streamDocument(carrier: CallingBack, url: string): string {
  return documentOf(stream(carrier, url));
}

/**
 * Streams the audio of a call that one process waits for. Another process closes the stream, and the carrier goes on with the next one; at
 * the end it asks again.
 * @param askUrl where it asks
 */
export function streamsDocument(carrier: CallingBack, urls: readonly string[], askUrl: string): string {
  const streams = urls.map((url) => stream(carrier, url));
  return documentOf(`${streams.join("")}<Redirect method="POST">${escaped(askUrl)}</Redirect>`);
}

function stream(carrier: CallingBack, url: string): string {
  if (carrier === "twilio") return `<Connect><Stream url="${escaped(url)}"/></Connect>`;
  const audio = `contentType="audio/x-mulaw;rate=8000"`;
  return `<Stream bidirectional="true" keepCallAlive="true" ${audio}>${escaped(url)}</Stream>`;
}

/**
 * Presses keys in a call of Twilio's (https://www.twilio.com/docs/voice/twiml/play#attributes-digits) and streams its audio again. A
 * process that does not hold the call closes the stream, and Twilio goes on with the next one.
 */
export function pressDocument(keys: string, streamUrls: readonly string[]): string {
  const streams = streamUrls.map((url) => stream("twilio", url));
  return documentOf(`<Play digits="${escaped(keys)}"/>${streams.join("")}`);
}

/** Says one sentence in English and hangs up. */
export function sayDocument(carrier: CallingBack, sentence: string): string {
  const element = carrier === "twilio" ? "Say" : "Speak";
  return documentOf(`<${element} language="en-US">${escaped(sentence)}</${element}><Hangup/>`);
}

/** Refuses an incoming call as busy. */
export function busyDocument(carrier: CallingBack): string {
  return documentOf(carrier === "twilio" ? `<Reject reason="busy"/>` : `<Hangup reason="busy"/>`);
}

/** How long a transferred call may last. */
export const TRANSFER_SECONDS_MAX = 1_800;

/** Connects the call to a number, or to a SIP address. @param from our number, which the destination sees */
export function dialDocument(carrier: CallingBack, from: string, to: string): string {
  const isSip = /^sips?:/i.test(to);
  const inner = isSip ? (carrier === "twilio" ? "Sip" : "User") : "Number";
  const limit = `timeLimit="${TRANSFER_SECONDS_MAX}"`;
  return documentOf(`<Dial callerId="${escaped(from)}" ${limit}><${inner}>${escaped(to)}</${inner}></Dial>`);
}

interface Transfer {
  from: string;
  to: string;
}

const TRANSFER = "transfer.";

/** The event of the callback with which Plivo asks for a transfer's document. It is in the URL, which Plivo signs. */
export function transferEvent(transfer: Transfer): string {
  return TRANSFER + Buffer.from(JSON.stringify(transfer)).toString("base64url");
}

/** Null for another event. */
export function readTransfer(event: string): Transfer | null {
  if (!event.startsWith(TRANSFER)) return null;
  try {
    const { from, to } = JSON.parse(Buffer.from(event.slice(TRANSFER.length), "base64url").toString());
    return typeof from === "string" && typeof to === "string" ? { from, to } : null;
  } catch {
    return null;
  }
}

function documentOf(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${content}</Response>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&apos;",
};

function escaped(text: string): string {
  return text.replace(/[<>&"']/g, (character) => ENTITIES[character] ?? "");
}
