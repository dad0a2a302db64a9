import { Webhook } from "standardwebhooks";

export interface Received {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  headers: Record<string, string>;
  /** The fields of the form, or of the query of a GET. */
  fields: [name: string, value: string][];
}

export interface Receiver extends AsyncDisposable {
  url: string;
  received: Received[];
  /** How requests are answered from now on. */
  answer: (received: Received, request: Request) => Response | Promise<Response>;
}

/** A customer's endpoint on loopback, which says 200 unless told otherwise. */
export function startReceiver(): Receiver {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const received = await read(request);
      receiver.received.push(received);
      return receiver.answer(received, request);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    received: [],
    answer: () => new Response("ok"),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}

async function read(request: Request): Promise<Received> {
  const url = new URL(request.url);
  const isQuery = request.method === "GET";
  const fields = isQuery
    ? [...url.searchParams]
    : [...(await request.formData()).entries()].map(([n, v]) => [n, String(v)]);
  return {
    method: request.method,
    target: url.pathname + url.search,
    headers: Object.fromEntries(request.headers),
    fields: fields as Received["fields"],
  };
}

export function fieldOf({ fields }: Received, name: string): string {
  return fields.find(([field]) => field === name)?.[1] ?? "";
}

/** Whether a receiver that knows this secret accepts the delivery, by the library of Standard Webhooks. */
export function isSignedWith(secret: string, received: Received): boolean {
  try {
    new Webhook(secret).verify(fieldOf(received, "payload"), received.headers);
    return true;
  } catch {
    return false;
  }
}
