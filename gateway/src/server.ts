import { systemClock } from "@parley/shared/clock";
import { ConfigError } from "@parley/shared/config";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { networkOf } from "@parley/shared/rate-limit/network-of";
import { type Authority, authorityIn } from "@parley/shared/tls/authority";
import { listenerFiles } from "@parley/shared/tls/listener-tls";
import type { BunFile } from "bun";
import { createAdmission } from "./admission.ts";
import { createApp } from "./app.ts";
import { credentialOf } from "./auth/identify.ts";
import { createKeyRing } from "./auth/key-ring.ts";
import { withTransportSecurity } from "./auth/over-tls.ts";
import { createClients } from "./clients.ts";
import type { GatewayConfig } from "./config.ts";
import { createDrain } from "./drain.ts";
import type { GateContext } from "./gate.ts";
import { clientAddress, parseTrustedProxies } from "./http/client-address.ts";
import { createRequestLog } from "./http/log-request.ts";
import { decidedInMemory } from "./http/observe.ts";
import { withoutUnreadBodies } from "./http/unread-bodies.ts";
import { eventStreams } from "./live/streams.ts";
import { failoverLimiter } from "./rate-limit/failover.ts";
import { createGuesses } from "./rate-limit/guesses.ts";
import type { RateLimiter } from "./rate-limit/limiter.ts";
import { memoryLimiter } from "./rate-limit/memory.ts";
import { redisLimiter } from "./rate-limit/redis.ts";
import { openDashboard } from "./routes/dashboard.ts";

/**
 * Disables the runtime's limit, whose refusal has no explanation: routes read only up to their own limits, and unread
 * bytes are not stored.
 */
const BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
const IDLE_SECONDS = 30;

/** Listens and serves until it is stopped. @throws ConfigError for settings that are contradictory or unsafe */
export async function startGateway(config: GatewayConfig, log: Logger): Promise<Running> {
  const clients = createClients(config, log);
  const keys = createKeyRing(clients.accounts, log);
  const limiters = await createLimiters(config, log);
  const trusted = parseTrustedProxies(config.PARLEY_TRUSTED_PROXIES);
  const addressOf = (request: Request) =>
    networkOf(clientAddress(server.requestIP(request)?.address ?? "", request.headers.get("x-forwarded-for"), trusted));
  const guesses = createGuesses({ limiter: limiters.addresses });
  const admission = createAdmission((request) => {
    const credential = credentialOf(request);
    const known = credential !== null && guesses.wasRight(credential) ? credential : null;
    return { known, isKeyless: credential === null, address: addressOf(request) };
  });
  const gate: GateContext = {
    keys,
    accounts: clients.accounts,
    keyLimiter: limiters.keys,
    addressLimiter: limiters.addresses,
    guesses,
    signInLimiter: limiters.signIns,
    admission,
    streams: eventStreams(),
    addressOf,
    publicUrl: config.PARLEY_PUBLIC_URL.replace(/\/+$/, ""),
    holdOpen: (request) => {
      server.timeout(request, 0);
      // The timeout applies to the connection, which may long outlive its request.
      return () => server.timeout(request, IDLE_SECONDS);
    },
    clock: systemClock,
    logRequest: createRequestLog(log),
    log,
  };
  const dashboard = config.PARLEY_DASHBOARD === "" ? null : openDashboard(config.PARLEY_DASHBOARD);
  const drain = createDrain(config.PARLEY_DRAIN_MS);
  const app = createApp(gate, clients, drain, dashboard);
  const server = Bun.serve({
    hostname: config.PARLEY_HOST,
    port: config.PORT,
    reusePort: true,
    maxRequestBodySize: BODY_BYTES_MAX,
    idleTimeout: IDLE_SECONDS,
    ...httpTls(config),
    fetch: drain.serving(withTransportSecurity(withoutUnreadBodies(admission.admitting(app.compile().fetch)))),
  });
  return {
    address: `${config.PARLEY_HOST}:${server.port}`,
    stop: async () => {
      gate.streams.endAll();
      await drain.run(server);
      keys.close();
      limiters.close();
      clients.close();
    },
  };
}

/** @throws ConfigError when the address is not loopback and no setting says that TLS protects it */
function httpTls(config: GatewayConfig): { tls?: { cert: BunFile; key: BunFile } } {
  const files = listenerFiles(
    {
      address: `${config.PARLEY_HOST}:${config.PORT}`,
      cert: config.PARLEY_HTTP_TLS_CERT,
      key: config.PARLEY_HTTP_TLS_KEY,
      insecure: config.PARLEY_INSECURE_HTTP,
    },
    {
      address: "PARLEY_HOST",
      cert: "PARLEY_HTTP_TLS_CERT",
      key: "PARLEY_HTTP_TLS_KEY",
      insecure: "PARLEY_INSECURE_HTTP",
    },
  );
  return files ? { tls: { cert: Bun.file(files.cert), key: Bun.file(files.key) } } : {};
}

/** @throws ConfigError when the file is unusable, or the address does not use TLS */
function redisAuthority({ REDIS_URL: url, PARLEY_REDIS_CA: file }: GatewayConfig): Authority | undefined {
  if (file === "") return undefined;
  if (!url.split(",").every((each) => each.startsWith("rediss://")))
    throw new ConfigError("PARLEY_REDIS_CA is set, so REDIS_URL must begin with rediss://");
  return authorityIn(file, "PARLEY_REDIS_CA");
}

interface Limiters {
  keys: RateLimiter;
  addresses: RateLimiter;
  signIns: RateLimiter;
  close(): void;
}

/** Separate limiters, so that a flood of addresses or emails cannot evict API keys from memory. */
async function createLimiters(config: GatewayConfig, log: Logger): Promise<Limiters> {
  const { REDIS_URL: url } = config;
  const authority = redisAuthority(config);
  if (url === "") {
    log.warn("no REDIS_URL: rates are limited in the memory of this process");
    return { keys: memoryLimiter(), addresses: memoryLimiter(), signIns: memoryLimiter(), close: () => {} };
  }
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  decidedInMemory().add(0);
  const redis = await redisLimiter({ url, authority });
  const failover = () =>
    failoverLimiter({
      primary: redis,
      fallback: memoryLimiter(),
      logger: log,
      onDegraded: () => decidedInMemory().add(1),
    });
  return { keys: failover(), addresses: failover(), signIns: failover(), close: () => redis.close() };
}
