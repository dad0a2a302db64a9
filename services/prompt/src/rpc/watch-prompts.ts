import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { PromptContext } from "../context.ts";

export function watchPrompts({
  changes,
}: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["watchPrompts"]> {
  return (requests) => changes.watch(requests);
}
