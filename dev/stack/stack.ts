import { createHmac } from "node:crypto";
import { join } from "node:path";
import { builtDashboard } from "@parley/dashboard/build.ts";
import { provision, roleUrls } from "@parley/shared/db/provision";
import type { Program } from "../processes/keep-running.ts";
import { freePorts, isFree, promise } from "../processes/ports.ts";
import { type Supervisor, supervise } from "../processes/supervisor.ts";
import { missingPocketSphinx } from "../stand-ins/speech/pocketsphinx.ts";
import { pingPostgres } from "../storage/postgres.ts";
import { redisUrl } from "../storage/redis.ts";
import { makeSocketFolder, removeSocketFolders } from "../storage/sockets.ts";
import { ensureStackDatabase, postgresProgram, redisProgram } from "../storage/storage.ts";
import { readDevEnv, writeDevEnv } from "./dev-env.ts";
import { firstOwner, type Login } from "./first-owner.ts";
import type { Home } from "./home.ts";
import { type Installation, openInstallation } from "./installation.ts";
import { lockHome } from "./lock.ts";
import {
  gatewayPrograms,
  gatewayUrl,
  type StandInName,
  type Surroundings,
  serviceAddress,
  servicePrograms,
  sipAddressOf,
  type WatchedName,
} from "./plan.ts";
import type { StackSettings } from "./settings.ts";
import { readStackFile } from "./stack-file.ts";
import { carrierProgram, dailyProgram, modelProgram, speechProgram, whatsAppProgram } from "./stand-in-programs.ts";
import { carrierUrl, dailyUrl, standInUrl, whatsAppUrl } from "./stand-in-settings.ts";

export interface StackSummary {
  url: string;
  /** host:port that takes calls by SIP. */
  sipAddress: string;
  modelUrl: string;
  speechUrl: string;
  /** The address of the stand-in for Twilio and Plivo. */
  carrierUrl: string;
  /** The address of Daily's stand-in, which also plays the people in its rooms. */
  dailyUrl: string;
  /** The address of WhatsApp's stand-in, which also plays its customers. */
  whatsAppUrl: string;
  /** Path of the file with the first owner's key and password. */
  devEnv: string;
  login: Login;
}

export interface Stack {
  /** Settles once: when everything answers, or when something cannot be started. */
  up: Promise<StackSummary>;
  /** Stops every process, also during the start. */
  stop(): Promise<void>;
}

export type LeftOut = Exclude<WatchedName, "account"> | StandInName;
/** These call the others while they end their calls and threads. */
const TALKING: readonly LeftOut[] = ["voice", "messaging"];

type Say = (line: string) => void;

/**
 * Starts all of Parley on this machine.
 * @param without the processes to leave out, with all their replicas; the account service is always needed
 * @throws one sentence when the home or the port is taken
 */
export async function startStack(
  home: Home,
  settings: StackSettings,
  env: Record<string, string | undefined>,
  say: Say,
  without: readonly LeftOut[] = [],
): Promise<Stack> {
  const lock = await lockHome(home);
  if (!(await isFree(settings.PORT, settings.PARLEY_HOST))) {
    lock.release();
    throw new Error(`Port ${settings.PORT} of ${settings.PARLEY_HOST} is not free: set another PORT`);
  }
  // May already be reserved, by the caller that found it for this stack.
  await promise(settings.PORT);
  removeSocketFolders(readStackFile(home).map(({ address }) => address));
  const supervisor = supervise(home, lock, say);
  const up = bringUp(home, settings, env, supervisor, say, without);
  return {
    up,
    stop: async () => {
      await supervisor.stop();
      await up.catch(() => {});
      lock.release();
    },
  };
}

/** Starts groups that need those before them; a stop ends them in the reverse order. */
async function bringUp(
  home: Home,
  settings: StackSettings,
  env: Record<string, string | undefined>,
  supervisor: Supervisor,
  say: Say,
  without: readonly LeftOut[],
): Promise<StackSummary> {
  const isOneOf = ({ name }: Program, names: readonly LeftOut[]) =>
    names.some((one) => name === one || name.startsWith(`${one}-`));
  const isWanted = (program: Program) => !isOneOf(program, without);
  const installation = await openInstallation(home);
  const secret = settings.PARLEY_ENCRYPTION_KEY || installation.encryptionKey;
  const replicas = settings.PARLEY_REPLICAS;
  const sockets = makeSocketFolder(home.file("run"));

  const adminUrl = settings.DATABASE_URL
    ? await givenDatabase(settings.DATABASE_URL)
    : await ownDatabase(home, installation, replicas, supervisor, say);
  await provision(adminUrl, secret);

  const surroundings: Surroundings = {
    home,
    env: { ...env, PARLEY_ENCRYPTION_KEY: secret, PARLEY_TOKEN_KEY: env.PARLEY_TOKEN_KEY || tokenKeyOf(secret) },
    sockets,
    replicas,
    databaseUrls: roleUrls(adminUrl, secret),
    redisUrl: settings.REDIS_URL || (await ownRedis(home, join(sockets, "redis.sock"), supervisor, say)),
    modelPort: installation.modelPort,
    speechPort: installation.speechPort,
    carrierPort: installation.carrierPort,
    whatsAppPort: installation.whatsAppPort,
    dailyPort: installation.dailyPort,
    sipPort: installation.sipPort,
    replicaSipPorts: await freePorts(replicas - 1),
    mediaPort: installation.mediaPort,
    url: gatewayUrl(settings.PARLEY_HOST, settings.PORT),
    binaries: settings.PARLEY_BINARIES,
  };
  const dashboard = builtDashboard();
  // Awaited when the gateways start; until then a failure must not count as unhandled.
  dashboard.catch(() => {});
  const standIns = [modelProgram, speechProgram, carrierProgram, whatsAppProgram, dailyProgram].map((plan) =>
    plan(surroundings),
  );
  const programs = [...standIns, ...servicePrograms(surroundings)].filter(isWanted);
  const isTalking = (program: Program) => isOneOf(program, TALKING);
  const others = programs.filter((program) => !isTalking(program));
  await supervisor.start(others, programs.filter(isTalking));
  const missing = missingPocketSphinx();
  if (missing) say(missing);

  const summary = {
    url: surroundings.url,
    modelUrl: standInUrl(installation.modelPort),
    speechUrl: standInUrl(installation.speechPort),
    carrierUrl: carrierUrl(installation.carrierPort),
    whatsAppUrl: whatsAppUrl(installation.whatsAppPort),
    dailyUrl: dailyUrl(installation.dailyPort),
    sipAddress: sipAddressOf(surroundings),
  };
  const owner = await firstOwner(serviceAddress(surroundings, "account"), readDevEnv(home));
  const conversationAddress = serviceAddress(surroundings, "conversation");
  const devEnv = writeDevEnv(home, owner, { ...summary, conversationAddress });
  const { PARLEY_HOST: host, PORT: port } = settings;
  await supervisor.start(gatewayPrograms(surroundings, host, port, await dashboard).filter(isWanted));
  return { ...summary, devEnv, login: owner.login };
}

async function ownDatabase(
  home: Home,
  installation: Installation,
  replicas: number,
  supervisor: Supervisor,
  say: Say,
): Promise<string> {
  const { program, folder } = await postgresProgram(home, installation, replicas, say);
  await supervisor.start([program]);
  return ensureStackDatabase(folder, installation);
}

async function givenDatabase(url: string): Promise<string> {
  try {
    await pingPostgres(url);
    return url;
  } catch (error) {
    throw new Error(`DATABASE_URL does not answer: ${error instanceof Error ? error.message : error}`);
  }
}

async function ownRedis(home: Home, socket: string, supervisor: Supervisor, say: Say): Promise<string | null> {
  const program = redisProgram(home, socket);
  if (program) {
    await supervisor.start([program]);
    return redisUrl(socket);
  }
  say("No redis-server or valkey-server on PATH and no REDIS_URL: the gateway limits rates in its own memory");
  return null;
}

/** The key of stored tokens, which is another than that of the credentials. */
function tokenKeyOf(secret: string): string {
  return createHmac("sha256", secret).update("tokens").digest("base64");
}
