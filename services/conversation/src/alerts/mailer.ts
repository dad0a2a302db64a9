import nodemailer from "nodemailer";

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same when it is sent again. */
  id: string;
}

/** Gives a mail to the operator's server. @throws when it does not take it */
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
    send: async ({ to, subject, text, id }) => {
      await transport.sendMail({ from, to, subject, text, messageId: `<${id}@parley>` });
    },
    close: () => transport.close(),
  };
}
