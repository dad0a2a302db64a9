import { expect, test } from "bun:test";
import { notFound, ServiceError } from "@parley/shared/errors";
import { ownGateway } from "./own-gateway.ts";

interface Handled {
  body?: Buffer;
  form?: string;
  signature?: string;
  signatures?: string[];
}

const CAR = "car_01m7yyhwn1d5e9h3k7p2r6t0v4";
const CALL = "call_01m7yyhwn1d5e9h3k7p2r6t0v4";

/** Each provider's callbacks about an object that exists, and about one that does not. */
const PROVIDERS = [
  { name: "WhatsApp", real: `whatsapp/${CAR}`, unknown: `whatsapp/${CAR.replace("0", "1")}`, right: 200 },
  { name: "Twilio", real: `twilio/${CALL}/status`, unknown: `twilio/${CALL.replace("0", "1")}/status`, right: 204 },
  { name: "Plivo", real: `plivo/${CAR}/answer`, unknown: `plivo/${CAR.replace("0", "1")}/answer`, right: 204 },
  { name: "Daily", real: `daily/${CAR}`, unknown: `daily/${CAR.replace("0", "1")}`, right: 200 },
];

/** A gateway of its own before services that know `car_0…` and `call_0…`, and what they were asked. */
function gatewayBefore(check?: () => Promise<unknown>) {
  const asked: string[] = [];
  const checkId = async (id: string) => {
    asked.push("check");
    if (check) return check();
    if (![CAR, CALL].includes(id)) throw notFound("Connection");
    return {};
  };
  const handle = async ({ body, form, signature, signatures = [] }: Handled) => {
    asked.push(`handle ${form ?? body?.toString()}`);
    if (![signature, ...signatures].includes("right")) throw new ServiceError("forbidden", "The signature is wrong");
    return { document: "" };
  };
  const messaging = {
    checkWhatsAppConnection: ({ carrierId }: { carrierId: string }) => checkId(carrierId),
    handleWhatsAppCallback: handle,
  };
  const voices = {
    checkCallbackId: ({ id }: { id: string }) => checkId(id),
    handleCarrierCallback: handle,
    handleDailyWebhook: handle,
  };
  const app = ownGateway({ messaging, voices });
  /** @returns the status, and how many bytes of the body were read */
  const callback = async (path: string, signature: string, headers: Record<string, string> = {}) => {
    let read = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (read > 0) return controller.close();
          read += 2;
          controller.enqueue(new TextEncoder().encode("{}"));
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request(`http://gateway/v1/carriers/${path}`, {
      method: "POST",
      headers: {
        "Content-Type": /twilio|plivo/.test(path) ? "application/x-www-form-urlencoded" : "application/json",
        "X-Hub-Signature-256": signature,
        "X-Twilio-Signature": signature,
        "X-Webhook-Signature": signature,
        ...headers,
      },
      body,
    });
    const { status } = await app.handle(request);
    return { status, read };
  };
  return { asked, callback };
}

test.each(PROVIDERS)("a callback of $name for an unknown id is refused without its body", async ({ unknown }) => {
  const { asked, callback } = gatewayBefore();
  expect(await callback(unknown, "right")).toEqual({ status: 404, read: 0 });
  expect(asked).toEqual(["check"]);
});

test.each(PROVIDERS)(
  "an id of $name is looked up again after a callback with a wrong signature, not after a right one",
  async ({ real, right }) => {
    const { asked, callback } = gatewayBefore();
    const statuses = [];
    for (const signature of ["wrong", "right", "right", "wrong", "right"])
      statuses.push((await callback(real, signature)).status);
    expect(statuses).toEqual([403, right, right, 403, right]);
    const [check, handle] = ["check", "handle {}"];
    expect(asked).toEqual([check, handle, check, handle, handle, handle, check, handle]);
  },
);

test("a call whose carrier reported one event is not looked up for the next", async () => {
  const { asked, callback } = gatewayBefore();
  for (const event of ["status", "answer", "machine"]) await callback(`twilio/${CALL}/${event}`, "right");
  expect(asked).toEqual(["check", "handle {}", "handle {}", "handle {}"]);
});

test.each(PROVIDERS)(
  "a callback of $name gets 503 while its id cannot be looked up, and is taken when it is repeated",
  async ({ real, right }) => {
    let isDown = true;
    const { callback } = gatewayBefore(async () => {
      if (isDown) throw new ServiceError("unavailable", "down");
    });
    expect(await callback(real, "right")).toEqual({ status: 503, read: 0 });
    isDown = false;
    expect((await callback(real, "right")).status).toBe(right);
  },
);

test("a callback that is too long or compressed is refused before anything is looked up", async () => {
  const { asked, callback } = gatewayBefore();
  const tooLong = { "Content-Length": "16385" };
  expect(await callback(`twilio/${CALL}/status`, "right", tooLong)).toEqual({ status: 413, read: 0 });
  expect(await callback(`daily/${CAR}`, "right", { "Content-Encoding": "gzip" })).toEqual({ status: 415, read: 0 });
  expect(asked).toEqual([]);
});

test("callbacks about more new calls than are looked up at once all arrive", async () => {
  const { callback } = gatewayBefore(() => new Promise((resolve) => setImmediate(resolve)));
  const ids = Array.from({ length: 400 }, (_, at) => `call_${String(at).padStart(26, "0")}`);
  const statuses = await Promise.all(ids.map(async (id) => (await callback(`plivo/${id}/ring`, "right")).status));
  expect(statuses.filter((status) => status !== 204)).toEqual([]);
});
