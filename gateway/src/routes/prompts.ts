import { numberOf, PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { presentLabel, presentPrompt, presentPromptUser, presentVersion } from "../present/prompt.ts";
import { required } from "../present/required.ts";
import {
  CreatePromptBody,
  CreatePromptQuery,
  DiffPromptQuery,
  GetPromptQuery,
  ListPromptsQuery,
  ListVersionsQuery,
  Prompt,
  PromptDeleted,
  PromptDiff,
  PromptLabel,
  PromptLabelDeleted,
  PromptList,
  PromptVersions,
  RestorePromptBody,
  SetPromptLabelBody,
  UpdatePromptBody,
} from "../schemas/prompts.ts";
import { endpoints } from "./endpoint.ts";

export function promptRoutes(gate: GateContext, { prompts }: Clients) {
  const route = endpoints(gate, { tag: "Prompts" });
  return new Elysia({ prefix: "/v1/public/prompts" })
    .post(
      "/",
      ...route(
        {
          id: "createPrompt",
          summary: "Create a prompt, or a new version of one",
          scope: "prompts:write",
          query: CreatePromptQuery,
          body: CreatePromptBody,
          response: Prompt,
          refuses: ["conflict"],
        },
        async ({ ownerId, query, body, idempotency, write }) => {
          const { prompt } = await prompts.createPrompt(
            {
              ownerId,
              promptName: body.prompt_name,
              promptContent: body.prompt_content,
              promptType: numberOf(PROMPT_TYPES, body.prompt_metadata?.prompt_type ?? undefined),
              newOnly: query.new_only === true,
              idempotency,
            },
            write,
          );
          return presentPrompt(required(prompt));
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listPrompts",
          summary: "List prompts",
          scope: "prompts:read",
          query: ListPromptsQuery,
          isList: true,
          response: PromptList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { prompts: found, total } = await prompts.listPrompts(
            { ownerId, page, search: query.search ?? "", latestOnly: query.latest_only ?? true },
            { origin },
          );
          return { prompts: found.map(presentPrompt), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:prompt_name",
      ...route(
        {
          id: "getPrompt",
          summary: "Get a prompt",
          scope: "prompts:read",
          query: GetPromptQuery,
          response: Prompt,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const promptName = params.prompt_name ?? "";
          const reference = { promptName, promptVersion: query.version, promptLabel: query.label };
          const { prompt } = await prompts.getPrompt({ ownerId, reference }, { origin });
          return presentPrompt(required(prompt));
        },
      ),
    )
    .patch(
      "/:prompt_name",
      ...route(
        {
          id: "updatePrompt",
          summary: "Add a version to a prompt",
          scope: "prompts:write",
          body: UpdatePromptBody,
          response: Prompt,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const { prompt } = await prompts.updatePrompt(
            { ownerId, promptName: params.prompt_name ?? "", promptContent: body.prompt_content, idempotency },
            write,
          );
          return presentPrompt(required(prompt));
        },
      ),
    )
    .get(
      "/:prompt_name/versions",
      ...route(
        {
          id: "listPromptVersions",
          summary: "List the versions of a prompt, newest first",
          scope: "prompts:read",
          query: ListVersionsQuery,
          isList: true,
          response: PromptVersions,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const promptName = params.prompt_name ?? "";
          const includeUsedBy = query.include === "used_by";
          const { versions, usedBy, usedByTotal } = await prompts.listPromptVersions(
            { ownerId, promptName, includeUsedBy },
            { origin },
          );
          return {
            prompt_name: promptName,
            versions: versions.map(presentVersion),
            total_versions: versions.length,
            ...(includeUsedBy && {
              used_by: usedBy.map(presentPromptUser),
              used_by_total: usedByTotal,
            }),
          };
        },
      ),
    )
    .get(
      "/:prompt_name/diff",
      ...route(
        {
          id: "diffPromptVersions",
          summary: "Compare two versions of a prompt",
          scope: "prompts:read",
          query: DiffPromptQuery,
          isList: true,
          response: PromptDiff,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const promptName = params.prompt_name ?? "";
          const { from, to = "latest" } = query;
          const found = await prompts.diffPromptVersions({ ownerId, promptName, from, to }, { origin });
          return {
            prompt_name: promptName,
            from_version: found.fromVersion,
            to_version: found.toVersion,
            diff: found.diff,
            variables_added: found.variablesAdded,
            variables_removed: found.variablesRemoved,
          };
        },
      ),
    )
    .post(
      "/:prompt_name/restore",
      ...route(
        {
          id: "restorePromptVersion",
          summary: "Restore a version of a prompt, as a new version",
          scope: "prompts:write",
          body: RestorePromptBody,
          response: Prompt,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const promptName = params.prompt_name ?? "";
          const { prompt } = await prompts.restorePromptVersion(
            { ownerId, promptName, promptVersion: body.prompt_version, idempotency },
            write,
          );
          return presentPrompt(required(prompt));
        },
      ),
    )
    .put(
      "/:prompt_name/labels/:label",
      ...route(
        {
          id: "setPromptLabel",
          summary: "Give a label to a version of a prompt, or move it there",
          scope: "prompts:write",
          body: SetPromptLabelBody,
          response: PromptLabel,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const promptName = params.prompt_name ?? "";
          const { label } = await prompts.setPromptLabel(
            { ownerId, promptName, label: params.label ?? "", promptVersion: body.prompt_version, idempotency },
            write,
          );
          return presentLabel(promptName, required(label));
        },
      ),
    )
    .delete(
      "/:prompt_name/labels/:label",
      ...route(
        {
          id: "deletePromptLabel",
          summary: "Delete a label of a prompt",
          scope: "prompts:write",
          response: PromptLabelDeleted,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const [promptName, label] = [params.prompt_name ?? "", params.label ?? ""];
          const { deletedAt } = await prompts.deletePromptLabel({ ownerId, promptName, label, idempotency }, write);
          return { message: "Label deleted", prompt_name: promptName, label, deleted_at: deletedAt };
        },
      ),
    )
    .delete(
      "/:prompt_name",
      ...route(
        {
          id: "deletePrompt",
          summary: "Delete a prompt with all its versions",
          scope: "prompts:write",
          response: PromptDeleted,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const promptName = params.prompt_name ?? "";
          const { versionsDeleted, deletedAt } = await prompts.deletePrompt(
            { ownerId, promptName, idempotency },
            write,
          );
          return {
            message: "Prompt deleted",
            prompt_name: promptName,
            versions_deleted: versionsDeleted,
            deleted_at: deletedAt,
          };
        },
      ),
    );
}
