import { configReader, positiveInteger } from "@parley/shared/config";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";
import { port, str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readStackSettings = configReader({
  PARLEY_HOME: str({ default: ".parley", desc: "folder for everything that the stack stores" }),
  PORT: port({ default: 8080, desc: "port of the gateway" }),
  PARLEY_HOST: str({ default: "127.0.0.1", desc: "address that the gateway listens on" }),
  PARLEY_REPLICAS: positiveInteger({ default: 1, desc: "replicas of every service and of the gateway" }),
  DATABASE_URL: str({
    default: "",
    desc: "postgres:// address of a role that may create roles; by default a Postgres is started",
  }),
  REDIS_URL: str({ default: "", desc: "redis:// address; by default a Redis is started if one is on PATH" }),
  PARLEY_BINARIES: str({ default: "", desc: "folder with binaries of the programs, to run instead of their sources" }),
  PARLEY_ENCRYPTION_KEY: ENCRYPTION_KEY({ default: "", desc: "32 bytes in base64; by default a key is generated" }),
});

export type StackSettings = ReturnType<typeof readStackSettings>;
