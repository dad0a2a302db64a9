import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJobs, enqueueJobsOnce } from "@parley/shared/jobs/store";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ServiceClient } from "@parley/shared/rpc/client";
import {
  deleteTrunkContact,
  findTrunkContact,
  listTrunksOf,
  storeTrunkContact,
  type TrunkKey,
} from "../store/trunk-contacts.ts";
import type { Register } from "../transport/sip/registering.ts";
import type { Target } from "../transport/sip/sockets.ts";
import { protocolOf } from "./trunk-server.ts";

export interface RegistrationContext {
  db: Database;
  clock: Clock;
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "listTrunks" | "getCarrierCredentials">;
  register: Register;
  /** @throws when the host cannot be found, or must not be called */
  serverOf(host: string, protocol: Target["protocol"]): Promise<Target>;
}

export interface TrunkRegistrations {
  queues: Record<string, Queue>;
  sweeps: Sweep[];
  /** Has another process register with the trunks of this one, which takes no more jobs. */
  handOver(): Promise<void>;
}

const QUEUE = "register-trunk";
/** How soon a trunk that an owner has connected is registered with. */
const FIND_EVERY_MS = 15_000;
/** Asked for; when a process dies, its trunks' calls reach another one after a refresh. */
const SECONDS = 120;
const REFRESH_MS = 60_000;
const REFRESH_MIN_MS = 5_000;
const RETRY_MIN_MS = 5_000;
const RETRY_MAX_MS = 5 * 60_000;

/**
 * Keeps the trunks of owners registered: a job for each trunk, which registers, waits and registers again, in whichever process claims
 * it. A process that registers removes the binding of the one before, so that a call reaches one process only.
 */
export function trunkRegistrations(ctx: RegistrationContext): TrunkRegistrations {
  const { db, clock, accounts } = ctx;
  const processId = newUuid();
  const job = ({ ownerId, carrierId }: TrunkKey) => ({
    ownerId,
    jobId: `register:${carrierId}`,
    queue: QUEUE,
    payload: { carrierId },
    dueAt: clock.now(),
  });

  return {
    queues: {
      [QUEUE]: {
        concurrency: 16,
        leaseMs: 30_000,
        retryDelayMs: (attempts) => Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (attempts - 1)),
        run: async ({ ownerId, payload }) => {
          const { carrierId } = payload as { carrierId: string };
          const key = { ownerId, carrierId };
          const settings = await settingsOf(ctx, key);
          if (!settings) return deleteTrunkContact(db, key);
          const { contact, seconds } = await register(ctx, key, settings);
          await storeTrunkContact(db, { ...key, contact, processId });
          const waitMs = Math.max(REFRESH_MIN_MS, Math.min(REFRESH_MS, (seconds / 2) * 1_000));
          return new Date(clock.now().getTime() + waitMs);
        },
      },
    },
    sweeps: [
      {
        name: "find-trunks",
        everyMs: FIND_EVERY_MS,
        run: async (_now, stopping) => {
          for (let after = ""; !stopping.aborted; ) {
            const { carriers } = await accounts.listTrunks({ afterCarrierId: after });
            await enqueueJobsOnce(db, carriers.map(job));
            const last = carriers.at(-1);
            if (!last) return;
            after = last.carrierId;
          }
        },
      },
    ],
    handOver: async () => enqueueJobs(db, (await listTrunksOf(db, processId)).map(job)),
  };
}

interface Credentials {
  host: string;
  username: string;
  password: string;
  transport: string | undefined;
}

/** Null if the trunk is not connected any more, or wants no registration: its calls come from addresses that its owner lists. */
async function settingsOf({ accounts }: RegistrationContext, key: TrunkKey): Promise<Credentials | null> {
  try {
    const { carrier } = await accounts.getCarrierCredentials(key);
    const { host, username, password, transport, allowedAddresses = [] } = carrier?.settings ?? {};
    return host && username && password && allowedAddresses.length === 0
      ? { host, username, password, transport }
      : null;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "not_found") return null;
    throw error;
  }
}

/** @throws with the trunk's answer when it refuses */
async function register(
  { db, register: send, serverOf }: RegistrationContext,
  key: TrunkKey,
  { host, username, password, transport }: Credentials,
): Promise<{ contact: string; seconds: number }> {
  const domain = host.replace(/:\d+$/, "");
  const answer = await send({
    uri: `sip:${domain}`,
    server: await serverOf(host, protocolOf(transport)),
    addressOfRecord: `sip:${username}@${domain}`,
    credentials: { username, password },
    seconds: SECONDS,
    former: await findTrunkContact(db, key),
  });
  if ("registered" in answer) return answer.registered;
  throw new Error(`The SIP trunk refused the registration: ${answer.refused} ${answer.reason}`);
}
