import nodemailer from "nodemailer";

interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same when it is sent again. */
  id: string;
  /** When what it tells of happened, which may be long before the server takes it. */
  date: Date;
}

/** Gives a mail to the operator's server. @throws when it does not take it; `isRefusal` tells whether it never will */
export type SendMail = (mail: Mail) => Promise<void>;

const CONNECT_MS = 10_000;

/** @param url of the operator's server, `smtp://` or `smtps://` @param from the sender's address */
export function mailer(url: string, from: string): { send: SendMail; close(): void } {
  const transport = nodemailer.createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: CONNECT_MS,
  });
  return {
    send: async ({ to, subject, text, id, date }) => {
      const headers = { "Auto-Submitted": "auto-generated" };
      // As an object the address is never read as a list of several.
      const address = { name: "", address: to };
      await transport.sendMail({ from, to: address, subject, text, date, headers, messageId: `<${id}@parley>` });
    },
    close: () => transport.close(),
  };
}

/** Whether a server refused this address or mail for good, as RFC 5321 (4.2.1) says by a 5yz reply. */
export function isRefusal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === "EENVELOPE" || code === "EMESSAGE") && responseCode >= 500;
}
