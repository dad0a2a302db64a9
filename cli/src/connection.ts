import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ConfigError, readConfig } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { peerCredentials, TLS_VARIABLES, tlsFiles } from "@parley/shared/rpc/tls/credentials";
import { str } from "envalid";

export type Environment = Record<string, string | undefined>;
export type AccountClient = ServiceClient<typeof AccountServiceService>;
export type DispatcherClient = ServiceClient<typeof WebhookDispatcherServiceService>;
type ConversationClient = ServiceClient<typeof ConversationServiceService>;
type VoiceClient = ServiceClient<typeof VoiceServiceService>;

const VARIABLES = {
  PARLEY_ACCOUNT_ADDRESS: str({ default: "", desc: "address of the account service" }),
  PARLEY_WEBHOOK_ADDRESS: str({ default: "", desc: "address of the webhook dispatcher" }),
  PARLEY_CONVERSATION_ADDRESS: str({ default: "", desc: "address of the conversation service" }),
  PARLEY_VOICE_ADDRESS: str({ default: "", desc: "address of the voice service" }),
  PARLEY_HOME: str({ default: ".parley", desc: "the stack's folder" }),
  ...TLS_VARIABLES,
};

/** The services that the command line calls, with their name in stack.json and the variable that overrides the address. */
const ACCOUNT = { definition: AccountServiceService, peer: "account", variable: "PARLEY_ACCOUNT_ADDRESS" } as const;
const DISPATCHER = {
  definition: WebhookDispatcherServiceService,
  peer: "webhook-dispatcher",
  variable: "PARLEY_WEBHOOK_ADDRESS",
} as const;
const CONVERSATION = {
  definition: ConversationServiceService,
  peer: "conversation",
  variable: "PARLEY_CONVERSATION_ADDRESS",
} as const;
const VOICE = { definition: VoiceServiceService, peer: "voice", variable: "PARLEY_VOICE_ADDRESS" } as const;

/** Who runs the command, by login name, or by number in a container that lists no users. */
function systemUser(): string {
  try {
    return userInfo().username.replaceAll(/[^\w.@-]/g, "_") || "unknown";
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** The stack listens on loopback unless TLS is set up, and this process listens nowhere. */
const NO_LISTENER = "127.0.0.1:0";

/**
 * Calls the account service of the running stack.
 * @throws ConfigError when its address is unknown
 * @throws ServiceError errors of the service
 */
export function withAccount<T>(env: Environment, work: (account: AccountClient) => Promise<T>): Promise<T> {
  return withService(env, ACCOUNT, work);
}

/** Calls the webhook dispatcher of the running stack. */
export function withDispatcher<T>(env: Environment, work: (dispatcher: DispatcherClient) => Promise<T>): Promise<T> {
  return withService(env, DISPATCHER, work);
}

/** Calls the conversation service of the running stack. */
export function withConversations<T>(
  env: Environment,
  work: (conversations: ConversationClient) => Promise<T>,
): Promise<T> {
  return withService(env, CONVERSATION, work);
}

/** Calls the voice service of the running stack. */
export function withVoice<T>(env: Environment, work: (voice: VoiceClient) => Promise<T>): Promise<T> {
  return withService(env, VOICE, work);
}

/**
 * Checks the owner, because the other services accept any owner ID and would store data for a mistyped one.
 * @throws ServiceError not_found
 */
export async function requireOwner(env: Environment, ownerId: string): Promise<void> {
  await withAccount(env, (account) => account.getOwner({ ownerId }));
}

interface Service<D extends Definition> {
  definition: D;
  peer: string;
  variable: `PARLEY_${"ACCOUNT" | "WEBHOOK" | "CONVERSATION" | "VOICE"}_ADDRESS`;
}

async function withService<D extends Definition, T>(
  env: Environment,
  { definition, peer, variable }: Service<D>,
  work: (client: ServiceClient<D>) => Promise<T>,
): Promise<T> {
  const config = readConfig(env, VARIABLES);
  const given = config[variable];
  const address = given || addressFromStack(config.PARLEY_HOME, peer, variable);
  const client = createClient(definition, {
    peer,
    address,
    credentials: peerCredentials(tlsFiles(config, NO_LISTENER), silentLogger).channel,
    actor: { kind: "operator", id: systemUser() },
  });
  try {
    return await work(client);
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === "unavailable")) throw error;
    const advice = given
      ? `The request went to ${address} (${variable}).`
      : 'If the stack is not running, start it with "bun run start".';
    throw new ServiceError("unavailable", `${error.detail} ${advice}`, { cause: error });
  } finally {
    client.close();
  }
}

function addressFromStack(home: string, name: string, variable: string): string {
  const path = resolve(join(home, "stack.json"));
  const start = `start the stack with "bun run start", or select another with PARLEY_HOME or ${variable}`;
  if (!existsSync(path)) throw new ConfigError(`No stack is running here (there is no ${path}): ${start}.`);
  const address = findAddress(readFileSync(path, "utf8"), name);
  if (!address) throw new ConfigError(`${path} names no ${name} service: ${start}.`);
  return address;
}

function findAddress(stackJson: string, name: string): string | undefined {
  try {
    const { processes } = JSON.parse(stackJson) as { processes: { name: string; address: string }[] };
    return processes.find((process) => process.name === name)?.address;
  } catch {
    return undefined;
  }
}
