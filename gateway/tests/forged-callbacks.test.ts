import { expect, test } from "bun:test";
import { notFound, ServiceError } from "@parley/shared/errors";
import { ownGateway } from "./own-gateway.ts";

/** A gateway of its own before a messaging service with one connection, `car_real`, and what that service was asked. */
function gatewayBefore(check?: () => Promise<unknown>) {
  const asked: string[] = [];
  const messaging = {
    checkWhatsAppConnection: async ({ carrierId }: { carrierId: string }) => {
      asked.push(`check ${carrierId}`);
      if (check) return check();
      if (carrierId !== "car_real") throw notFound("WhatsApp connection");
      return {};
    },
    handleWhatsAppCallback: async ({
      carrierId,
      body,
      signature,
    }: Record<"carrierId" | "signature", string> & { body: Buffer }) => {
      asked.push(`handle ${carrierId} ${body.toString()}`);
      if (signature !== "right") throw new ServiceError("forbidden", "The signature is wrong");
      return {};
    },
  };
  const app = ownGateway({ messaging });
  /** @returns the status, and how many bytes of the body were read */
  const callback = async (id: string, signature: string) => {
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
    const headers = { "Content-Type": "application/json", "X-Hub-Signature-256": signature };
    const url = `http://gateway/v1/carriers/whatsapp/${id}`;
    const { status } = await app.handle(new Request(url, { method: "POST", headers, body }));
    return { status, read };
  };
  return { asked, callback };
}

test("a callback for a connection that does not exist is refused without its body", async () => {
  const { asked, callback } = gatewayBefore();
  expect(await callback("car_none", "right")).toEqual({ status: 404, read: 0 });
  expect(asked).toEqual(["check car_none"]);
});

test("a connection is looked up again after a callback with a wrong signature, not after a right one", async () => {
  const { asked, callback } = gatewayBefore();
  const statuses = [];
  for (const signature of ["wrong", "right", "right", "wrong", "right"])
    statuses.push((await callback("car_real", signature)).status);
  expect(statuses).toEqual([403, 200, 200, 403, 200]);
  const handled = "handle car_real {}";
  const checked = "check car_real";
  expect(asked).toEqual([checked, handled, checked, handled, handled, handled, checked, handled]);
});

test("a callback is passed on to a messaging service of the release before, which cannot look it up", async () => {
  const { callback } = gatewayBefore(() => Promise.reject(new ServiceError("unimplemented", "not yet")));
  expect((await callback("car_real", "right")).status).toBe(200);
});
