import { numberOf } from "@parley/shared/domain/api-names";
import {
  presentImported,
  presentNewTool,
  presentRotatedTool,
  presentTool,
  presentTried,
} from "@parley/shared/domain/present/tool";
import { TOOL_TYPES } from "@parley/shared/domain/tools";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { readDate } from "../http/date.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { required } from "../present/required.ts";
import {
  CreateToolBody,
  ImportToolsBody,
  ListToolsQuery,
  TryToolBody,
  UpdateToolBody,
  UpdateToolQuery,
} from "../schemas/tools/requests.ts";
import { ImportedTools, NewTool, RotatedTool, Tool, ToolDeleted, ToolList, TriedTool } from "../schemas/tools/shown.ts";
import { endpoints } from "./endpoint.ts";
import { newToolOf, sourceOf, toolChangeOf } from "./tool-request.ts";

/** More than the longest that a tool's call may take. */
const TRY_TIMEOUT_MS = 125_000;

/** More than the longest that an MCP server may take, which is asked when its tool is saved. */
const SAVE_TIMEOUT_MS = 30_000;

const IMPORT_BYTES_MAX = 4 * 1024 * 1024;
/** More than the longest that its server may take. */
const IMPORT_TIMEOUT_MS = 30_000;

export function toolRoutes(gate: GateContext, { agents, conversations }: Clients) {
  const route = endpoints(gate, { tag: "Tools" });
  return new Elysia({ prefix: "/v1/public/tools" })
    .post(
      "/",
      ...route(
        {
          id: "createTool",
          summary: "Create a tool; its signing secret is shown only once",
          scope: "tools:write",
          body: CreateToolBody,
          response: NewTool,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, idempotency, write }) => {
          const created = { ownerId, tool: newToolOf(body.type, body), idempotency };
          const { tool } = await agents.createTool(created, { ...write, timeoutMs: SAVE_TIMEOUT_MS });
          return presentNewTool(required(tool));
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listTools",
          summary: "List tools, newest first",
          scope: "tools:read",
          query: ListToolsQuery,
          response: ToolList,
          isList: true,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const type = numberOf(TOOL_TYPES, query.type);
          const { tools, total } = await agents.listTools(
            { ownerId, page, search: query.search ?? "", type },
            { origin },
          );
          return { tools: tools.map(presentTool), ...pageFigures(total, page) };
        },
      ),
    )
    .post(
      "/import",
      ...route(
        {
          id: "importTools",
          summary: "Make tools of an OpenAPI document or a curl command",
          description:
            "Stores nothing: each of `tools` is a body for `POST /tools`. The secrets that they name must exist before; their values are never taken from a command. Give one of `url`, `document` and `curl`.",
          scope: "tools:write",
          body: ImportToolsBody,
          bodyBytesMax: IMPORT_BYTES_MAX,
          response: ImportedTools,
        },
        async ({ ownerId, body, origin }) =>
          presentImported(
            await agents.importTools({ ownerId, source: sourceOf(body) }, { origin, timeoutMs: IMPORT_TIMEOUT_MS }),
          ),
      ),
    )
    .get(
      "/:tool_id",
      ...route(
        {
          id: "getTool",
          summary: "Get a tool",
          scope: "tools:read",
          response: Tool,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { tool } = await agents.getTool({ ownerId, toolId: params.tool_id ?? "" }, { origin });
          return presentTool(required(tool));
        },
      ),
    )
    .patch(
      "/:tool_id",
      ...route(
        {
          id: "updateTool",
          summary: "Change a tool",
          scope: "tools:write",
          query: UpdateToolQuery,
          body: UpdateToolBody,
          response: Tool,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, query, body, idempotency, origin, write }) => {
          const toolId = params.tool_id ?? "";
          // What a body may have depends on the tool's type, which never changes.
          const { tool: before } = await agents.getTool({ ownerId, toolId }, { origin });
          const type = body.type ?? before?.kind?.$case ?? "http";
          const ifUpdatedAt =
            query.if_updated_at === undefined ? undefined : readDate("if_updated_at", query.if_updated_at);
          const change = { ownerId, toolId, ...toolChangeOf(type, body), ifUpdatedAt, idempotency };
          const { tool } = await agents.updateTool(change, { ...write, timeoutMs: SAVE_TIMEOUT_MS });
          return presentTool(required(tool));
        },
      ),
    )
    .delete(
      "/:tool_id",
      ...route(
        {
          id: "deleteTool",
          summary: "Delete a tool",
          scope: "tools:write",
          response: ToolDeleted,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const toolId = params.tool_id ?? "";
          const { name, deletedAt } = await agents.deleteTool({ ownerId, toolId, idempotency }, write);
          return { message: "Tool deleted", tool_id: toolId, name, deleted_at: deletedAt };
        },
      ),
    )
    .post(
      "/:tool_id/rotate-secret",
      ...route(
        {
          id: "rotateToolSecret",
          summary: "Make a new signing secret; the old one is valid for 24 hours more",
          scope: "tools:write",
          response: RotatedTool,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const toolId = params.tool_id ?? "";
          const { tool } = await agents.rotateToolSecret({ ownerId, toolId, idempotency }, write);
          return presentRotatedTool(required(tool));
        },
      ),
    )
    .post(
      "/:tool_id/accept",
      ...route(
        {
          id: "acceptToolChanges",
          summary: "Accept what an MCP server changed",
          description:
            "Asks the server again and switches on everything that it offers and the tool allows, as it is now. Tools that are gone are forgotten.",
          scope: "tools:write",
          response: Tool,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const toolId = params.tool_id ?? "";
          const accepted = { ownerId, toolId, idempotency };
          const { tool } = await agents.acceptToolChanges(accepted, { ...write, timeoutMs: SAVE_TIMEOUT_MS });
          return presentTool(required(tool));
        },
      ),
    )
    .post(
      "/:tool_id/try",
      ...route(
        {
          id: "tryTool",
          summary: "Call a tool as a conversation would",
          description:
            "Every request makes a call, also a repeated one with the same `Idempotency-Key`. Client tools cannot be tried: a conversation's client makes their calls.",
          scope: "tools:write",
          body: TryToolBody,
          response: TriedTool,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const request = {
            ownerId,
            toolId: params.tool_id ?? "",
            arguments: body.arguments ?? {},
            variables: body.variables ?? {},
            mcpTool: body.tool ?? undefined,
          };
          return presentTried(await conversations.tryTool(request, { origin, timeoutMs: TRY_TIMEOUT_MS }));
        },
      ),
    );
}
