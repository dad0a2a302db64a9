import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Clock } from "@parley/shared/clock";
import { startWorker } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { createClient } from "@parley/shared/rpc/client";
import { startService } from "@parley/shared/service";
import type { AccountConfig } from "./config.ts";
import type { AccountContext } from "./context.ts";
import { followKeyChanges, type KeyChanges } from "./keys/key-changes.ts";
import { MIGRATIONS } from "./migrations.ts";
import { activateKey } from "./rpc/activate-key.ts";
import { addMobileNumber } from "./rpc/add-mobile-number.ts";
import { authenticateKey } from "./rpc/authenticate-key.ts";
import { authenticateSession } from "./rpc/authenticate-session.ts";
import { changePassword } from "./rpc/change-password.ts";
import { claimIdempotencyKey } from "./rpc/claim-idempotency-key.ts";
import { createKey } from "./rpc/create-key.ts";
import { createOwner } from "./rpc/create-owner.ts";
import { deactivateKey } from "./rpc/deactivate-key.ts";
import { deleteKey } from "./rpc/delete-key.ts";
import { deleteOwner } from "./rpc/delete-owner.ts";
import { getOwner } from "./rpc/get-owner.ts";
import { getSettings } from "./rpc/get-settings.ts";
import { listKeys } from "./rpc/list-keys.ts";
import { listMobileNumbers } from "./rpc/list-mobile-numbers.ts";
import { listOwners } from "./rpc/list-owners.ts";
import { removeMobileNumber } from "./rpc/remove-mobile-number.ts";
import { setPassword } from "./rpc/set-password.ts";
import { signIn } from "./rpc/sign-in.ts";
import { signOut } from "./rpc/sign-out.ts";
import { updateOwner } from "./rpc/update-owner.ts";
import { updateSettings } from "./rpc/update-settings.ts";
import { watchKeys } from "./rpc/watch-keys.ts";
import { retentionQueue } from "./settings/tell-retention.ts";
import { createPasswords } from "./sign-in/password.ts";

export async function startAccount(config: AccountConfig, log: Logger, given?: Clock): Promise<Running> {
  let keyChanges: KeyChanges | undefined;
  const running = await startService(
    {
      name: "account",
      definition: AccountServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, direct, clock, credentials }) => {
        keyChanges = followKeyChanges({ db, url: config.PARLEY_DATABASE_DIRECT_URL || config.DATABASE_URL, log });
        const conversations = createClient(ConversationServiceService, {
          peer: "conversation",
          address: config.PARLEY_CONVERSATION_ADDRESS,
          credentials,
        });
        const ctx: AccountContext = { db, keyChanges, passwords: createPasswords(), conversations, clock };
        const worker = startWorker(db, retentionQueue(ctx), log, { clock, direct });
        return {
          handlers: {
            createOwner: createOwner(ctx),
            getOwner: getOwner(ctx),
            listOwners: listOwners(ctx),
            updateOwner: updateOwner(ctx),
            deleteOwner: deleteOwner(ctx),
            createKey: createKey(ctx),
            listKeys: listKeys(ctx),
            activateKey: activateKey(ctx),
            deactivateKey: deactivateKey(ctx),
            deleteKey: deleteKey(ctx),
            authenticateKey: authenticateKey(ctx),
            watchKeys: watchKeys(ctx),
            setPassword: setPassword(ctx),
            changePassword: changePassword(ctx),
            signIn: signIn(ctx),
            authenticateSession: authenticateSession(ctx),
            signOut: signOut(ctx),
            claimIdempotencyKey: claimIdempotencyKey(ctx),
            getSettings: getSettings(ctx),
            updateSettings: updateSettings(ctx),
            listMobileNumbers: listMobileNumbers(ctx),
            addMobileNumber: addMobileNumber(ctx),
            removeMobileNumber: removeMobileNumber(ctx),
          },
          stop: async () => {
            await worker.stop();
            conversations.close();
          },
        };
      },
    },
    config,
    log,
  );
  return {
    address: running.address,
    stop: async () => {
      // First, because the gateways' watch streams never end by themselves and would block the drain.
      await keyChanges?.stop();
      await running.stop();
    },
  };
}
