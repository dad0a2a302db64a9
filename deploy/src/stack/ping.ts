import { readConfig } from "@parley/shared/config";
import { createClient } from "@parley/shared/rpc/client";
import { channelCredentials, TLS_VARIABLES, tlsFiles } from "@parley/shared/rpc/credentials";
import type { Definition } from "@parley/shared/rpc/definition";
import { service as health } from "grpc-health-check";

const TIMEOUT_MS = 2_000;

/** Loaded at run time by its package, so its types say little. */
const HEALTH = health as unknown as { Check: HealthCheck };
type HealthCheck = Definition[string] & {
  requestStream: false;
  responseStream: false;
  requestDeserialize: (value: Buffer) => { service: string };
  responseDeserialize: (value: Buffer) => { status: string };
};

/** How this process calls the services of its own stack. */
export function stackCredentials() {
  return channelCredentials(tlsFiles(readConfig(process.env, TLS_VARIABLES), "127.0.0.1:0"));
}

/** @throws while a service does not say that it serves (https://grpc.io/docs/guides/health-checking/). */
export async function pingRpc(address: string): Promise<void> {
  const client = createClient(HEALTH, { peer: address, address, credentials: stackCredentials() });
  try {
    const answer = await client.Check({ service: "" }, { timeoutMs: TIMEOUT_MS });
    if (answer.status !== "SERVING") throw new Error(answer.status);
  } finally {
    client.close();
  }
}

/** @throws while the address does not answer with success. */
export async function pingHttp(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status}`);
}
