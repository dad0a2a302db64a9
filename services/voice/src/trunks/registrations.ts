import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { wantsRegistration } from "@parley/shared/domain/carriers";
import { EgressError } from "@parley/shared/egress/error";
import { nullIfNotFound } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJobs, enqueueJobsOnce } from "@parley/shared/jobs/store";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Queue } from "@parley/shared/jobs/worker";
import { backOff } from "@parley/shared/retry/back-off";
import type { ServiceClient } from "@parley/shared/rpc/client";
import {
  deleteTrunkContact,
  findTrunkContact,
  listTrunksOf,
  storeTrunkContact,
  type TrunkKey,
} from "../store/trunk-contacts.ts";
import { deleteTrunkRegistration, type NewRegistration, storeTrunkRegistration } from "../store/trunk-registrations.ts";
import type { Register, RegistrationAnswer } from "../transport/sip/registering.ts";
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

interface TrunkRegistrations {
  queues: Record<string, Queue>;
  sweeps: Sweep[];
  /** Has another process register with the trunks of this one, which takes no more jobs. */
  handOver(): Promise<void>;
}

const QUEUE = "register-trunk";
/** How soon a trunk that an owner has connected is registered with. */
const FIND_EVERY_MS = 15_000;
/** The lifetime that is requested. When a process dies, its trunks' calls reach another one after a refresh. */
const SECONDS = 120;
const REFRESH_MS = 60_000;
const REFRESH_MIN_MS = 5_000;
const RETRY_MIN_MS = 5_000;
const RETRY_MAX_MS = 5 * 60_000;

/**
 * Keeps the trunks of owners registered: a job for each trunk, which registers, waits and registers again, in whichever process claims
 * it. A process that registers removes the binding of the previous one, so that a call reaches one process only.
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
        retryDelayMs: backOff(RETRY_MIN_MS, RETRY_MAX_MS),
        run: async ({ ownerId, payload }) => {
          const { carrierId } = payload as { carrierId: string };
          const key = { ownerId, carrierId };
          const settings = await settingsOf(ctx, key);
          if (!settings) {
            await deleteTrunkRegistration(db, key);
            return deleteTrunkContact(db, key);
          }
          const answer = await register(ctx, key, settings);
          await storeTrunkRegistration(db, key, registrationOf(answer, clock.now()), clock.now());
          if (!("registered" in answer))
            throw new Error(`No registration with the SIP trunk: ${answer.refused ?? ""} ${answer.reason}`);
          const { contact, seconds } = answer.registered;
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

/** Null if the trunk is no longer connected, or needs no registration: its calls come from addresses that its owner lists. */
async function settingsOf({ accounts }: RegistrationContext, key: TrunkKey): Promise<Credentials | null> {
  const found = await accounts.getCarrierCredentials({ ...key, evenDisconnected: false }).catch(nullIfNotFound);
  const settings = found?.carrier?.settings;
  if (!settings || !wantsRegistration(settings)) return null;
  const { host = "", username = "", password = "", transport } = settings;
  return { host, username, password, transport };
}

/** `refused` is null if the trunk was not found, or must not be called. */
type Answer = Extract<RegistrationAnswer, { registered: unknown }> | { refused: number | null; reason: string };

async function register(
  { db, register: send, serverOf }: RegistrationContext,
  key: TrunkKey,
  { host, username, password, transport }: Credentials,
): Promise<Answer> {
  let server: Target;
  try {
    server = await serverOf(host, protocolOf(transport));
  } catch (error) {
    if (error instanceof EgressError) return { refused: null, reason: error.message };
    throw error;
  }
  const domain = host.replace(/:\d+$/, "");
  return send({
    uri: `sip:${domain}`,
    server: { ...server, ownerId: key.ownerId },
    addressOfRecord: `sip:${username}@${domain}`,
    credentials: { username, password },
    seconds: SECONDS,
    former: await findTrunkContact(db, key),
  });
}

/** As a user agent reports silence (RFC 3261, section 8.1.3.1). */
const TIMEOUT = 408;
/** The trunk's words; a line is enough. */
const REASON_MAX = 200;

function registrationOf(answer: Answer, now: Date): NewRegistration {
  if ("registered" in answer) {
    const expiresAt = new Date(now.getTime() + answer.registered.seconds * 1_000);
    return { state: "REGISTERED", expiresAt, sipStatus: null, reason: null };
  }
  const { refused, reason } = answer;
  const isReached = refused !== null && refused !== TIMEOUT;
  const words = reason
    .replace(/[\p{Cc}\p{Cs}]/gu, " ")
    .slice(0, REASON_MAX)
    .trim();
  return { state: isReached ? "REFUSED" : "UNREACHABLE", expiresAt: null, sipStatus: refused, reason: words || null };
}
