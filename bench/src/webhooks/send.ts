import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { EVENT, type Sample } from "./event.ts";

const BOUNDARY = "bench-0123456789";

/** Parley's own guarded client, with a delivery's request built by hand and a constant signature. */
export function createSend(): (url: string, sample: Sample) => Promise<void> {
  const { fetch } = createEgress({ allow: parseAllowList("127.0.0.1") });
  return async (url, { id, payload }) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
        "webhook-id": id,
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
      },
      body: new TextEncoder().encode(
        [...part("event", EVENT), ...part("payload", payload), `--${BOUNDARY}--`, ""].join("\r\n"),
      ),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
  };
}

function part(name: string, value: string): string[] {
  return [`--${BOUNDARY}`, `Content-Disposition: form-data; name="${name}"`, "", value];
}
