import { configReader, positiveNumber } from "@parley/shared/config";
import { TLS_VARIABLES } from "@parley/shared/rpc/tls/credentials";
import { port, str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readGatewayConfig = configReader({
  PORT: port({ default: 8080 }),
  PARLEY_HOST: str({ default: "127.0.0.1", desc: "address to serve HTTP on" }),
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_PROMPT_ADDRESS: str({ desc: "host:port of the prompt service" }),
  PARLEY_CONVERSATION_ADDRESS: str({ desc: "host:port of the conversation service" }),
  PARLEY_WEBHOOK_ADDRESS: str({ desc: "host:port of the webhook dispatcher" }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service" }),
  PARLEY_MESSAGING_ADDRESS: str({ desc: "host:port of the messaging service" }),
  PARLEY_KNOWLEDGE_ADDRESS: str({ desc: "host:port of the knowledge service" }),
  PARLEY_PUBLIC_URL: str({
    default: "",
    desc: "https:// address where clients reach the gateway; without one, each request's own is used",
  }),
  PARLEY_DASHBOARD: str({ default: "", desc: "folder with the built dashboard; without one, none is served" }),
  REDIS_URL: str({
    default: "",
    desc: "redis:// address, or comma-separated addresses of some nodes of a Redis Cluster; without one, rates are limited in memory",
  }),
  PARLEY_REDIS_CA: str({ default: "", desc: "PEM file of the authority that signed Redis' certificate" }),
  PARLEY_TRUSTED_PROXIES: str({ default: "", desc: "CIDRs of proxies whose X-Forwarded-For is trusted" }),
  PARLEY_HTTP_TLS_CERT: str({ default: "", desc: "PEM file of the certificate to serve HTTPS with" }),
  PARLEY_HTTP_TLS_KEY: str({ default: "", desc: "PEM file of its key" }),
  PARLEY_INSECURE_HTTP: str({
    default: "",
    choices: ["", "1"],
    desc: "1: TLS ends before the gateway, serve plain HTTP beyond loopback",
  }),
  PARLEY_DRAIN_MS: positiveNumber({ default: 10_000, desc: "how long running requests may take to end at shutdown" }),
  ...TLS_VARIABLES,
});

export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
