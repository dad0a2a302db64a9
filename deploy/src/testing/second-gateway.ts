import { eventually } from "@parley/shared/testing/eventually";
import { startChild, stopChild } from "../stack/child.ts";
import { gatewayPrograms, gatewayUrl, SERVICES, type Surroundings } from "../stack/plan.ts";
import { freePorts } from "../stack/ports.ts";
import { redisUrl } from "../stack/redis.ts";
import type { TestStack } from "./test-stack.ts";

const HOST = "127.0.0.1";
const UP_WITHIN_MS = 20_000;
const STOP_WITHIN_MS = 15_000;

export interface SecondGateway {
  url: string;
  stop(): Promise<void>;
}

/** One more gateway process of a stack, on a port of its own. */
export async function startSecondGateway(
  { home, address, databaseUrls }: TestStack,
  env: Record<string, string> = {},
): Promise<SecondGateway> {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const ports = Object.fromEntries(
    SERVICES.map(({ name }) => [name, [portOf(address(name))]]),
  ) as unknown as Surroundings["ports"];
  const redis = redisUrl(portOf(address("redis")));
  const adminPorts = { gateway: [adminPort] } as unknown as Surroundings["adminPorts"];
  const surroundings = {
    home,
    env,
    ports,
    adminPorts,
    databaseUrls,
    redisUrl: redis,
    modelPort: portOf(address("model")),
  };
  const [gateway] = gatewayPrograms(surroundings, HOST, port);
  if (!gateway) throw new Error("no gateway is planned");
  const { command, ping } = gateway;
  const child = startChild({ ...command, log: home.log("second-gateway") });
  await eventually(ping, UP_WITHIN_MS);
  return { url: gatewayUrl(HOST, port), stop: () => stopChild(child, command.stopSignal, STOP_WITHIN_MS) };
}

function portOf(address: string): number {
  return Number(address.split(":").at(-1));
}
