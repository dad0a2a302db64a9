import { SetPromptLabelResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handler, PromptContext } from "../context.ts";
import { withFollowers } from "../following/follow.ts";
import { checkLabel, LATEST } from "../labels/label.ts";
import { checkPromptMayExist, checkVersion } from "../rules.ts";
import { listLabels, lockPrompt, setLabel } from "../store/labels.ts";

const LABELS_MAX = 100;

export function setPromptLabel(ctx: PromptContext): Handler<"setPromptLabel"> {
  return ({ ownerId, promptName, label, promptVersion, idempotency }, call) =>
    withFollowers(ctx, call, (promise) =>
      runIdempotent(ctx, { ownerId, idempotency, codec: SetPromptLabelResponse, call }, async (tx) => {
        checkLabel(label, "label");
        if (label === LATEST) {
          throw invalid(
            "label",
            `label must not be ${LATEST}, which is always the newest version: choose another name`,
          );
        }
        checkVersion(promptVersion, "prompt_version");
        checkPromptMayExist(promptName);
        if (!(await lockPrompt(tx, { ownerId, promptName }))) throw notFound("Prompt");
        const key = { ownerId, promptName, label };
        const row = await setLabel(tx, key, promptVersion, ctx.clock.now());
        if (!row) throw notFound("Version", "prompt_version");
        if ((await listLabels(tx, key)).length > LABELS_MAX) {
          throw new ServiceError(
            "conflict",
            `A prompt has at most ${LABELS_MAX} labels: delete one of ${promptName} first`,
          );
        }
        await promise(tx, key);
        return { label: row };
      }),
    );
}
