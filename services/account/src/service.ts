import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Clock } from "@parley/shared/clock";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { createSealer } from "@parley/shared/sealing";
import { createCarriers } from "./carriers/carriers.ts";
import { restoreQueue } from "./carriers/restore-numbers.ts";
import type { AccountConfig } from "./config.ts";
import type { AccountContext } from "./context.ts";
import { followKeyChanges } from "./keys/key-changes.ts";
import { MIGRATIONS } from "./migrations.ts";
import { deletionQueues } from "./owners/tell-deletion.ts";
import { activateKey } from "./rpc/activate-key.ts";
import { addMobileNumber } from "./rpc/add-mobile-number.ts";
import { authenticateKey } from "./rpc/authenticate-key.ts";
import { authenticateSession } from "./rpc/authenticate-session.ts";
import { callWithCode } from "./rpc/call-with-code.ts";
import { changePassword } from "./rpc/change-password.ts";
import { claimIdempotencyKey } from "./rpc/claim-idempotency-key.ts";
import { confirmCode } from "./rpc/confirm-code.ts";
import { connectCarrier } from "./rpc/connect-carrier.ts";
import { createKey } from "./rpc/create-key.ts";
import { createOwner } from "./rpc/create-owner.ts";
import { createSecret } from "./rpc/create-secret.ts";
import { deactivateKey } from "./rpc/deactivate-key.ts";
import { deleteKey } from "./rpc/delete-key.ts";
import { deleteOwner } from "./rpc/delete-owner.ts";
import { deleteSecret } from "./rpc/delete-secret.ts";
import { disconnectCarrier } from "./rpc/disconnect-carrier.ts";
import { findCarrier } from "./rpc/find-carrier.ts";
import { findCarrierOfNumber } from "./rpc/find-carrier-of-number.ts";
import { findLostNumbers } from "./rpc/find-lost-numbers.ts";
import { findSecrets } from "./rpc/find-secrets.ts";
import { findTrunk } from "./rpc/find-trunk.ts";
import { getCallPolicy } from "./rpc/get-call-policy.ts";
import { getCarrier } from "./rpc/get-carrier.ts";
import { getCarrierCredentials } from "./rpc/get-carrier-credentials.ts";
import { getOwner } from "./rpc/get-owner.ts";
import { getSettings } from "./rpc/get-settings.ts";
import { importCarrierNumber } from "./rpc/import-carrier-number.ts";
import { listCarrierNumbers } from "./rpc/list-carrier-numbers.ts";
import { listCarriers } from "./rpc/list-carriers.ts";
import { listKeys } from "./rpc/list-keys.ts";
import { listMobileNumbers } from "./rpc/list-mobile-numbers.ts";
import { listOwners } from "./rpc/list-owners.ts";
import { listSecrets } from "./rpc/list-secrets.ts";
import { listSessions } from "./rpc/list-sessions.ts";
import { listTrunks } from "./rpc/list-trunks.ts";
import { proveMobileNumber } from "./rpc/prove-mobile-number.ts";
import { recognizeDevice } from "./rpc/recognize-device.ts";
import { removeMobileNumber } from "./rpc/remove-mobile-number.ts";
import { revealSecrets } from "./rpc/reveal-secrets.ts";
import { setCallPolicy } from "./rpc/set-call-policy.ts";
import { setPassword } from "./rpc/set-password.ts";
import { setSecret } from "./rpc/set-secret.ts";
import { signIn } from "./rpc/sign-in.ts";
import { signOut } from "./rpc/sign-out.ts";
import { updateOwner } from "./rpc/update-owner.ts";
import { updateSettings } from "./rpc/update-settings.ts";
import { watchKeys } from "./rpc/watch-keys.ts";
import { settingsQueue } from "./settings/tell-settings.ts";
import { createPasswords } from "./sign-in/password.ts";
import { IDEMPOTENCY_CLAIMS } from "./store/idempotency-claims.ts";

export function startAccount(config: AccountConfig, log: Logger, given?: Clock): Promise<Running> {
  return startService(
    {
      name: "account",
      definition: AccountServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, clock, connect }) => {
        const keyChanges = followKeyChanges({ db, url: config.PARLEY_DATABASE_DIRECT_URL || config.DATABASE_URL, log });
        const forgetting = {
          voice: connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS),
          messaging: connect(MessagingServiceService, "messaging", config.PARLEY_MESSAGING_ADDRESS),
          knowledge: connect(KnowledgeServiceService, "knowledge", config.PARLEY_KNOWLEDGE_ADDRESS),
          agent: connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS),
          prompt: connect(PromptServiceService, "prompt", config.PARLEY_PROMPT_ADDRESS),
          "webhook-dispatcher": connect(
            WebhookDispatcherServiceService,
            "webhook-dispatcher",
            config.PARLEY_WEBHOOK_ADDRESS,
          ),
          conversation: connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS),
        };
        const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
        const carriers = createCarriers(sealer, {
          twilio: config.PARLEY_TWILIO_BASE_URL,
          plivo: config.PARLEY_PLIVO_BASE_URL,
          daily: config.PARLEY_DAILY_BASE_URL,
          whatsApp: config.PARLEY_WHATSAPP_BASE_URL,
          publicUrl: config.PARLEY_PUBLIC_URL,
        });
        const ctx: AccountContext = {
          db,
          keyChanges,
          passwords: createPasswords(),
          carriers,
          conversations: forgetting.conversation,
          agents: forgetting.agent,
          sealer,
          voices: forgetting.voice,
          codeCallsOwnerId: config.PARLEY_CODE_CALLS_OWNER,
          callDefaults: { callsPerDay: config.PARLEY_CALLS_PER_DAY, minutesPerDay: config.PARLEY_CALL_MINUTES_PER_DAY },
          clock,
          log,
        };
        const queues = {
          ...settingsQueue(ctx),
          ...deletionQueues(ctx, (service, ownerId) => forgetting[service].forgetOwner({ ownerId })),
          ...restoreQueue({ db, carriers, log }),
        };
        return [
          {
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
              recognizeDevice: recognizeDevice(ctx),
              authenticateSession: authenticateSession(ctx),
              signOut: signOut(ctx),
              listSessions: listSessions(ctx),
              claimIdempotencyKey: claimIdempotencyKey(ctx),
              getSettings: getSettings(ctx),
              updateSettings: updateSettings(ctx),
              listMobileNumbers: listMobileNumbers(ctx),
              addMobileNumber: addMobileNumber(ctx),
              removeMobileNumber: removeMobileNumber(ctx),
              proveMobileNumber: proveMobileNumber(ctx),
              callWithCode: callWithCode(ctx),
              confirmCode: confirmCode(ctx),
              getCallPolicy: getCallPolicy(ctx),
              setCallPolicy: setCallPolicy(ctx),
              connectCarrier: connectCarrier(ctx),
              listCarriers: listCarriers(ctx),
              getCarrier: getCarrier(ctx),
              disconnectCarrier: disconnectCarrier(ctx),
              listCarrierNumbers: listCarrierNumbers(ctx),
              importCarrierNumber: importCarrierNumber(ctx),
              getCarrierCredentials: getCarrierCredentials(ctx),
              findCarrier: findCarrier(ctx),
              findCarrierOfNumber: findCarrierOfNumber(ctx),
              findTrunk: findTrunk(ctx),
              listTrunks: listTrunks(ctx),
              listSecrets: listSecrets(ctx),
              createSecret: createSecret(ctx),
              setSecret: setSecret(ctx),
              deleteSecret: deleteSecret(ctx),
              revealSecrets: revealSecrets(ctx),
              findSecrets: findSecrets(ctx),
              findLostNumbers: findLostNumbers(ctx),
            },
            queues,
            sweeps: [expiredKeys(db, [IDEMPOTENCY_CLAIMS])],
            // The gateways' watch streams.
            endStreams: keyChanges.stop,
          },
        ];
      },
    },
    config,
    log,
  );
}
