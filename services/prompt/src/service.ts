import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { RoomSettings } from "@parley/shared/domain/full";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import { forgetOwner } from "@parley/shared/jobs/forget-owner";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import type { PromptConfig } from "./config.ts";
import type { PromptContext } from "./context.ts";
import { followQueue } from "./following/follow.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { acquirePrompts } from "./rpc/acquire-prompts.ts";
import { batchGetPrompts } from "./rpc/batch-get-prompts.ts";
import { createPrompt } from "./rpc/create-prompt.ts";
import { deletePrompt } from "./rpc/delete-prompt.ts";
import { deletePromptLabel } from "./rpc/delete-prompt-label.ts";
import { diffPromptVersions } from "./rpc/diff-prompt-versions.ts";
import { getPrompt } from "./rpc/get-prompt.ts";
import { listPromptVersions } from "./rpc/list-prompt-versions.ts";
import { listPrompts } from "./rpc/list-prompts.ts";
import { restorePromptVersion } from "./rpc/restore-prompt-version.ts";
import { setPromptLabel } from "./rpc/set-prompt-label.ts";
import { setPromptReferences } from "./rpc/set-prompt-references.ts";
import { updatePrompt } from "./rpc/update-prompt.ts";

export function startPrompt(config: PromptConfig, log: Logger, given?: Clock): Promise<Running> {
  return startService(
    {
      name: "prompt",
      definition: PromptServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, clock, connect }) => {
        const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
        const room = roomOf(config.PARLEY_PROMPTS_OWNER_BYTES);
        const ctx: PromptContext = { db, agents, clock, room };
        return [
          {
            handlers: {
              createPrompt: createPrompt(ctx),
              getPrompt: getPrompt(ctx),
              listPrompts: registered(listPrompts(ctx), { isList: true }),
              updatePrompt: updatePrompt(ctx),
              listPromptVersions: registered(listPromptVersions(ctx), { isList: true }),
              deletePrompt: deletePrompt(ctx),
              restorePromptVersion: restorePromptVersion(ctx),
              diffPromptVersions: registered(diffPromptVersions(ctx), { isList: true }),
              setPromptLabel: setPromptLabel(ctx),
              deletePromptLabel: deletePromptLabel(ctx),
              batchGetPrompts: batchGetPrompts(ctx),
              acquirePrompts: acquirePrompts(ctx),
              setPromptReferences: setPromptReferences(ctx),
              forgetOwner: forgetOwner(ctx),
            },
            queues: { ...followQueue(ctx), ...forgetOwners(ctx) },
            sweeps: [expiredKeys(db, [IDEMPOTENCY_KEYS])],
          },
        ];
      },
    },
    config,
    log,
  );
}

function roomOf(bytesMax: number): RoomSettings {
  return { bytesMax, what: "Prompts and their versions", remedy: "delete prompts that you no longer need" };
}
