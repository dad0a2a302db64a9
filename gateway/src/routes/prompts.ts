import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { type GateContext, gated } from "../gate.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { presentPrompt, presentVersion } from "../present/prompt.ts";
import { required } from "../present/required.ts";
import { CreatePromptBody, GetPromptQuery, ListPromptsQuery, UpdatePromptBody } from "../schemas/prompts.ts";

const PROMPT_TYPES = { main: PromptType.PROMPT_TYPE_MAIN, analysis: PromptType.PROMPT_TYPE_ANALYSIS } as const;

export function promptRoutes(gate: GateContext, { prompts }: Clients) {
  return new Elysia({ prefix: "/v1/public/prompts" })
    .post(
      "/",
      gated(gate, { scope: "prompts:write", body: CreatePromptBody }, async ({ ownerId, body, idempotency, write }) => {
        const type = body.prompt_metadata?.prompt_type;
        const { prompt } = await prompts.createPrompt(
          {
            ownerId,
            promptName: body.prompt_name,
            promptContent: body.prompt_content,
            promptType: type ? PROMPT_TYPES[type] : PromptType.PROMPT_TYPE_UNSPECIFIED,
            idempotency,
          },
          write,
        );
        return presentPrompt(required(prompt));
      }),
      { parse: "none" },
    )
    .get(
      "/",
      gated(gate, { scope: "prompts:read", query: ListPromptsQuery }, async ({ ownerId, query, origin }) => {
        const page = pageOf(query);
        const { prompts: found, total } = await prompts.listPrompts(
          { ownerId, page, search: query.search ?? "", latestOnly: query.latest_only ?? true },
          { origin },
        );
        return { prompts: found.map(presentPrompt), ...pageFigures(total, page) };
      }),
    )
    .get(
      "/:prompt_name",
      gated(gate, { scope: "prompts:read", query: GetPromptQuery }, async ({ ownerId, params, query, origin }) => {
        const reference = { promptName: params.prompt_name ?? "", promptVersion: query.version };
        const { prompt } = await prompts.getPrompt({ ownerId, reference }, { origin });
        return presentPrompt(required(prompt));
      }),
    )
    .patch(
      "/:prompt_name",
      gated(
        gate,
        { scope: "prompts:write", body: UpdatePromptBody },
        async ({ ownerId, params, body, idempotency, write }) => {
          const { prompt } = await prompts.updatePrompt(
            { ownerId, promptName: params.prompt_name ?? "", promptContent: body.prompt_content, idempotency },
            write,
          );
          return presentPrompt(required(prompt));
        },
      ),
      { parse: "none" },
    )
    .get(
      "/:prompt_name/versions",
      gated(gate, { scope: "prompts:read" }, async ({ ownerId, params, origin }) => {
        const promptName = params.prompt_name ?? "";
        const { versions } = await prompts.listPromptVersions({ ownerId, promptName }, { origin });
        return { prompt_name: promptName, versions: versions.map(presentVersion), total_versions: versions.length };
      }),
    )
    .delete(
      "/:prompt_name",
      gated(gate, { scope: "prompts:write" }, async ({ ownerId, params, idempotency, write }) => {
        const promptName = params.prompt_name ?? "";
        const { versionsDeleted, deletedAt } = await prompts.deletePrompt({ ownerId, promptName, idempotency }, write);
        return {
          message: "Prompt deleted",
          prompt_name: promptName,
          versions_deleted: versionsDeleted,
          deleted_at: deletedAt,
        };
      }),
      { parse: "none" },
    );
}
