import { HealthCheckResponse_ServingStatus, HealthService } from "@parley/proto/grpc/health/v1/health.ts";
import { readConfig } from "@parley/shared/config";
import { silentLogger } from "@parley/shared/log";
import { createClient } from "@parley/shared/rpc/client";
import { socketPath } from "@parley/shared/rpc/socket-path";
import { peerCredentials, TLS_VARIABLES, tlsFiles } from "@parley/shared/rpc/tls/credentials";

const TIMEOUT_MS = 2_000;

/** Credentials for calls to the services of this stack. */
export function stackCredentials() {
  return peerCredentials(tlsFiles(readConfig(process.env, TLS_VARIABLES), "127.0.0.1:0"), silentLogger).channel;
}

/** @throws while a service does not report that it is serving (https://grpc.io/docs/guides/health-checking/) */
export async function pingRpc(address: string): Promise<void> {
  const client = createClient(HealthService, { peer: address, address, credentials: stackCredentials() });
  try {
    const { status } = await client.check({ service: "" }, { timeoutMs: TIMEOUT_MS });
    if (status !== HealthCheckResponse_ServingStatus.SERVING) throw new Error(`its health status is ${status}`);
  } finally {
    client.close();
  }
}

/** @param at unix:path of a socket to use instead of the URL's host @throws unless the response is a success */
export async function pingHttp(url: string, at = ""): Promise<void> {
  const unix = socketPath(at);
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...(unix && { unix }) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status}`);
}
