import { dirname } from "node:path";
import { startChild, stopChild } from "@parley/dev/processes/child.ts";
import { pingHttp } from "@parley/dev/processes/ping.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { gatewayPrograms, gatewayUrl, type StandInName } from "@parley/dev/stack/plan.ts";
import { socketPath } from "@parley/shared/rpc/socket-path";
import { eventually } from "@parley/testkit/eventually";
import { BINARIES_VARIABLE } from "@parley/testkit/programs/binaries";
import type { RunningStack } from "./use-stack.ts";

const HOST = "127.0.0.1";
const UP_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;

export interface SecondGateway {
  url: string;
  stop(): Promise<void>;
}

/** One more gateway process of a stack, on a port of its own. */
export async function startSecondGateway(
  { home, address, databaseUrls }: RunningStack,
  env: Record<string, string> = {},
): Promise<SecondGateway> {
  const [port = 0] = await freePorts(1);
  const portOf = (name: StandInName) => Number(address(name).split(":").at(-1));
  const surroundings = {
    home,
    env,
    sockets: dirname(socketPath(address("account")) ?? ""),
    replicas: 1,
    databaseUrls,
    redisUrl: socketPath(address("redis")),
    modelPort: portOf("model"),
    speechPort: portOf("speech"),
    carrierPort: portOf("carrier"),
    whatsAppPort: portOf("whatsapp"),
    dailyPort: portOf("daily"),
    sipPort: 0,
    replicaSipPorts: [],
    mediaPort: 0,
    url: "",
    binaries: process.env[BINARIES_VARIABLE] ?? "",
  };
  const [gateway] = gatewayPrograms(surroundings, HOST, port, "");
  if (!gateway) throw new Error("no gateway is planned");
  const command = { ...gateway.command, log: home.log("second-gateway") };
  const child = startChild({ ...command, env: { ...command.env, PARLEY_ADMIN_LISTEN: "" } });
  const url = gatewayUrl(HOST, port);
  await eventually(() => pingHttp(`${url}/readyz`), UP_WITHIN_MS);
  return { url, stop: () => stopChild(child, command.stopSignal, STOP_WITHIN_MS) };
}
