import { type Authority, authorityIn } from "@parley/shared/authority";
import { systemClock } from "@parley/shared/clock";
import { ConfigError } from "@parley/shared/config";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { isLoopback } from "@parley/shared/rpc/credentials";
import type { BunFile } from "bun";
import { createApp } from "./app.ts";
import { createKeyRing } from "./auth/key-ring.ts";
import { createClients } from "./clients.ts";
import type { GatewayConfig } from "./config.ts";
import { createDrain } from "./drain.ts";
import type { GateContext } from "./gate.ts";
import { createAnswers } from "./http/answers.ts";
import { clientAddress, networkOf, parseTrustedProxies } from "./http/client-address.ts";
import { decidedInMemory } from "./http/observe.ts";
import { withoutUnreadBodies } from "./http/unread-bodies.ts";
import { failoverLimiter } from "./rate-limit/failover.ts";
import type { RateLimiter } from "./rate-limit/limiter.ts";
import { memoryLimiter } from "./rate-limit/memory.ts";
import { redisLimiter } from "./rate-limit/redis.ts";

/** No bound of the runtime's, whose refusal has no words: routes read no more than they take, and what is not read is not kept. */
const BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
const IDLE_SECONDS = 30;

/** Listens, and serves until it is stopped. @throws ConfigError for settings that contradict each other, or are not safe */
export async function startGateway(config: GatewayConfig, log: Logger): Promise<Running> {
  const clients = createClients(config, log);
  const keys = createKeyRing(clients.accounts, log);
  const limiters = await createLimiters(config, log);
  const trusted = parseTrustedProxies(config.PARLEY_TRUSTED_PROXIES);
  const gate: GateContext = {
    keys,
    accounts: clients.accounts,
    keyLimiter: limiters.keys,
    addressLimiter: limiters.addresses,
    signInLimiter: limiters.signIns,
    answers: createAnswers(),
    addressOf: (request) =>
      networkOf(
        clientAddress(server.requestIP(request)?.address ?? "", request.headers.get("x-forwarded-for"), trusted),
      ),
    holdOpen: (request) => {
      server.timeout(request, 0);
      // It is the connection that is timed, which may long outlive its request.
      return () => server.timeout(request, IDLE_SECONDS);
    },
    clock: systemClock,
    log,
  };
  const drain = createDrain(config.PARLEY_DRAIN_MS);
  const server = Bun.serve({
    hostname: config.PARLEY_HOST,
    port: config.PORT,
    reusePort: true,
    maxRequestBodySize: BODY_BYTES_MAX,
    idleTimeout: IDLE_SECONDS,
    ...httpTls(config),
    fetch: drain.serving(withoutUnreadBodies(createApp(gate, clients, drain).compile().fetch)),
  });
  return {
    address: `${config.PARLEY_HOST}:${server.port}`,
    stop: async () => {
      await drain.run(server);
      keys.close();
      limiters.close();
      clients.close();
    },
  };
}

/** @throws ConfigError when the address is beyond loopback and nothing says that TLS protects what is sent to it */
function httpTls(config: GatewayConfig): { tls?: { cert: BunFile; key: BunFile } } {
  const { PARLEY_HTTP_TLS_CERT: cert, PARLEY_HTTP_TLS_KEY: key, PARLEY_HOST: host } = config;
  if (cert !== "" && key !== "") return { tls: { cert: Bun.file(cert), key: Bun.file(key) } };
  if (cert !== "" || key !== "") throw new ConfigError("PARLEY_HTTP_TLS_CERT and PARLEY_HTTP_TLS_KEY go together");
  if (!isLoopback(`${host}:${config.PORT}`) && config.PARLEY_INSECURE_HTTP !== "1") {
    throw new ConfigError(
      `PARLEY_HOST ${host} is beyond loopback: give PARLEY_HTTP_TLS_CERT and _KEY, or say PARLEY_INSECURE_HTTP=1 when TLS ends before the gateway`,
    );
  }
  return {};
}

/** @throws ConfigError when the file cannot be used, or the address says that there is no TLS to use it for */
function redisAuthority({ REDIS_URL: url, PARLEY_REDIS_CA: file }: GatewayConfig): Authority | undefined {
  if (file === "") return undefined;
  if (!url.split(",").every((each) => each.startsWith("rediss://")))
    throw new ConfigError("PARLEY_REDIS_CA is given, so REDIS_URL must begin with rediss://");
  return authorityIn(file, "PARLEY_REDIS_CA");
}

interface Limiters {
  keys: RateLimiter;
  addresses: RateLimiter;
  signIns: RateLimiter;
  close(): void;
}

/** Each its own, so that a flood of addresses or emails cannot push API keys out of a process's memory. */
async function createLimiters(config: GatewayConfig, log: Logger): Promise<Limiters> {
  const { REDIS_URL: url } = config;
  const authority = redisAuthority(config);
  if (url === "") {
    log.warn("no REDIS_URL: rates are limited in the memory of this process");
    return { keys: memoryLimiter(), addresses: memoryLimiter(), signIns: memoryLimiter(), close: () => {} };
  }
  // From the start: what appears with its first loss has no rate to alert on then.
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
