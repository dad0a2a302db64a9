import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { boundedReads } from "@parley/shared/bounded-reads";
import type { Clock } from "@parley/shared/clock";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { startService } from "@parley/shared/service";
import type { PromptConfig } from "./config.ts";
import type { PromptContext } from "./context.ts";
import { MIGRATIONS } from "./migrations.ts";
import { acquirePrompts } from "./rpc/acquire-prompts.ts";
import { batchGetPrompts } from "./rpc/batch-get-prompts.ts";
import { createPrompt } from "./rpc/create-prompt.ts";
import { deletePrompt } from "./rpc/delete-prompt.ts";
import { getPrompt } from "./rpc/get-prompt.ts";
import { listPromptVersions } from "./rpc/list-prompt-versions.ts";
import { listPrompts } from "./rpc/list-prompts.ts";
import { setPromptReferences } from "./rpc/set-prompt-references.ts";
import { updatePrompt } from "./rpc/update-prompt.ts";

export function startPrompt(config: PromptConfig, log: Logger, given?: Clock): Promise<Running> {
  return startService(
    {
      name: "prompt",
      definition: PromptServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, clock }) => {
        const ctx: PromptContext = { db, boundedRead: boundedReads(), clock };
        return {
          handlers: {
            createPrompt: createPrompt(ctx),
            getPrompt: getPrompt(ctx),
            listPrompts: listPrompts(ctx),
            updatePrompt: updatePrompt(ctx),
            listPromptVersions: listPromptVersions(ctx),
            deletePrompt: deletePrompt(ctx),
            batchGetPrompts: batchGetPrompts(ctx),
            acquirePrompts: acquirePrompts(ctx),
            setPromptReferences: setPromptReferences(ctx),
          },
        };
      },
    },
    config,
    log,
  );
}
